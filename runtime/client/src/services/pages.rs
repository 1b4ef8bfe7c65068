//! Browsing to the last page: continuation points followed, and ended where a server does not end
//! (OPC 10000-4 §7.9).

use core::hash::BuildHasher as _;
use core::time::Duration;
use std::collections::{HashSet, VecDeque};
use std::hash::RandomState;

use uaforge_codec::{ByteString, NodeId, Structure as _};
use uaforge_types::{
    BrowseDescription, BrowseNextRequest, BrowseRequest, BrowseResult, ReferenceDescription, status,
};

use super::browse::release_of;
use crate::batch::{self, Limit};
use crate::{Error, Session};

/// Most nodes of one call.
const PART: usize = 1000;
/// Nodes of the first call; the next ones are sized by what came back.
const FIRST_PART: usize = 64;
/// References of one response that are wished for: more need memory, fewer cost round trips.
const WISHED: usize = 5000;
/// Pages one after the other that bring nothing new. A server may give empty pages, such as where it
/// filters, but not for ever.
const MAX_IDLE_PAGES: usize = 16;

/// How browsing to the last page is done.
#[derive(Clone, Debug)]
pub(crate) struct BrowseOptions {
    /// References of one node at most.
    pub(crate) max_references: usize,
    /// References of one page; 0: the server decides.
    pub(crate) page_size: u32,
    pub(crate) timeout: Option<Duration>,
}

impl Default for BrowseOptions {
    fn default() -> Self {
        Self { max_references: 1_000_000, page_size: 0, timeout: None }
    }
}

/// Some references of one node.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Page {
    /// The place of the node among those that were given, from 0.
    pub index: usize,
    /// References that no page before had; or why there are no more of this node.
    pub references: Result<Vec<ReferenceDescription>, Error>,
    /// Whether it is the node's last page. An error is.
    pub last: bool,
}

/// A node with what is known of its pages.
struct Node {
    index: usize,
    description: BrowseDescription,
    count: usize,
    idle: usize,
    /// Hashes of the references, from the first page on that is not the only one.
    seen: HashSet<u64>,
}

impl Node {
    fn name(&self) -> &NodeId {
        &self.description.node_id
    }
}

/// Nodes being browsed: some with one call, then all of their pages, then the next ones.
pub(crate) struct Pages<I> {
    session: Session,
    options: BrowseOptions,
    nodes: core::iter::Enumerate<I>,
    ready: VecDeque<Page>,
    /// Nodes with a continuation point.
    open: Vec<(Node, ByteString)>,
    /// Nodes that found the server without a free continuation point.
    refused: VecDeque<Node>,
    /// How many nodes are asked for at once.
    part: usize,
    /// How many of the refused ones are.
    at_once: usize,
    /// Continuation points that nobody wants any more.
    ended: Vec<ByteString>,
    hasher: RandomState,
}

impl<I: Iterator<Item = BrowseDescription>> Pages<I> {
    pub(crate) fn new(session: &Session, nodes: I, options: BrowseOptions) -> Self {
        Self {
            session: session.clone(),
            options,
            nodes: nodes.enumerate(),
            ready: VecDeque::new(),
            open: Vec::new(),
            refused: VecDeque::new(),
            part: FIRST_PART,
            at_once: PART,
            ended: Vec::new(),
            hasher: RandomState::new(),
        }
    }

    /// The next page of any node.
    pub(crate) async fn next(&mut self) -> Option<Page> {
        loop {
            if let Some(page) = self.ready.pop_front() {
                return Some(page);
            }
            if !self.open.is_empty() {
                self.follow().await;
            } else if !self.refused.is_empty() {
                let count = self.refused.len().min(self.at_once);
                let nodes = self.refused.drain(..count).collect();
                self.browse(nodes).await;
            } else {
                let size = batch::per_call(&self.session, Limit::Browse).min(self.part);
                let some = self.nodes.by_ref().take(size);
                let nodes: Vec<Node> =
                    some.map(|(index, description)| new_node(index, description)).collect();
                if nodes.is_empty() {
                    return None;
                }
                self.at_once = PART;
                self.browse(nodes).await;
            }
        }
    }

    /// The first pages of nodes.
    async fn browse(&mut self, nodes: Vec<Node>) {
        let alone = nodes.len() == 1;
        let request =
            BrowseRequest { requested_max_references_per_node: self.options.page_size, ..Default::default() };
        let descriptions = nodes.iter().map(|node| node.description.clone()).collect();
        let count = nodes.len();
        match batch::run(&self.session, request, descriptions, self.options.timeout).await {
            Ok(results) => {
                let found = results.iter().map(|result| result.references.len()).sum::<usize>();
                self.part = next_part(count, found);
                for (node, result) in nodes.into_iter().zip(results) {
                    if result.status_code == status::BAD_NO_CONTINUATION_POINTS && !alone {
                        self.refused.push_back(node);
                    } else {
                        self.take(node, result, BrowseRequest::DESCRIPTOR.name);
                    }
                }
            }
            Err(error) => nodes.into_iter().for_each(|node| self.fail(&node, error.clone())),
        }
        if !self.refused.is_empty() {
            // Fewer nodes in one call need fewer continuation points at once. A node that is refused
            // alone is answered as it is.
            let free = match self.session.limits().max_browse_continuation_points {
                0 => usize::MAX,
                points => usize::from(points),
            };
            self.at_once = (count / 2).min(free).max(1);
        }
        self.release().await;
    }

    /// The next pages of all nodes that have one.
    async fn follow(&mut self) {
        let (nodes, points): (Vec<_>, Vec<_>) = core::mem::take(&mut self.open).into_iter().unzip();
        let request = BrowseNextRequest::default();
        match batch::run(&self.session, request, points, self.options.timeout).await {
            Ok(results) => {
                for (node, result) in nodes.into_iter().zip(results) {
                    self.take(node, result, BrowseNextRequest::DESCRIPTOR.name);
                }
            }
            Err(error) => nodes.into_iter().for_each(|node| self.fail(&node, error.clone())),
        }
        self.release().await;
    }

    /// Takes a page. Its node waits for the next one if there is more.
    fn take(&mut self, mut node: Node, result: BrowseResult, service: &'static str) {
        if result.status_code.is_bad() {
            let error = Error::operation(node.name(), result.status_code).of(service);
            return self.fail(&node, error);
        }
        let point = result.continuation_point;
        let last = point.bytes().is_empty();
        let mut references = result.references.into_vec();
        if !last || node.count > 0 {
            // What changes between pages may move a reference to another page: it is given once.
            references.retain(|reference| node.seen.insert(identity(&self.hasher, reference)));
        }
        node.count += references.len();
        node.idle = if references.is_empty() { node.idle + 1 } else { 0 };
        let problem = if node.count > self.options.max_references {
            Some(Error::too_many_references(node.name(), self.options.max_references))
        } else if !last && node.idle > MAX_IDLE_PAGES {
            let reason = "the server goes on with pages that have no new references";
            Some(Error::endless(node.name(), reason, MAX_IDLE_PAGES))
        } else {
            None
        };
        if let Some(error) = problem {
            self.fail(&node, error);
            if !last {
                self.ended.push(point);
            }
            return;
        }
        self.ready.push_back(Page { index: node.index, references: Ok(references), last });
        if !last {
            self.open.push((node, point));
        }
    }

    fn fail(&mut self, node: &Node, error: Error) {
        self.ready.push_back(Page { index: node.index, references: Err(error), last: true });
    }
}

impl<I> Pages<I> {
    /// Gives back the continuation points of nodes that were given up. Whether it helps is the server's
    /// business.
    async fn release(&mut self) {
        if !self.ended.is_empty() {
            let points = core::mem::take(&mut self.ended);
            drop(self.session.browse_next(points, true).await);
        }
    }
}

impl<I> Drop for Pages<I> {
    /// Who stops in the middle does not keep the server's continuation points.
    fn drop(&mut self) {
        let open = self.open.drain(..).map(|(_, point)| point);
        let points: Vec<_> = open.chain(self.ended.drain(..)).collect();
        if !points.is_empty() {
            self.session.link().post(release_of(points));
        }
    }
}

/// How many nodes to ask for next, after so many had so many references.
fn next_part(nodes: usize, references: usize) -> usize {
    let wished = nodes.saturating_mul(WISHED) / references.max(1);
    wished.clamp(1, nodes.saturating_mul(4)).min(PART)
}

fn new_node(index: usize, description: BrowseDescription) -> Node {
    Node { index, description, count: 0, idle: 0, seen: HashSet::new() }
}

/// What makes a reference of one node the one that it is (OPC 10000-3 §4.4.4): type, direction, target.
fn identity(hasher: &RandomState, reference: &ReferenceDescription) -> u64 {
    hasher.hash_one((&reference.reference_type_id, reference.is_forward, &reference.node_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_what_comes_back() {
        assert_eq!(next_part(64, 0), 256);
        assert_eq!(next_part(256, 0), PART);
        assert_eq!(next_part(1000, 100_000), 50);
        assert_eq!(next_part(1, 1_000_000), 1);
        assert_eq!(next_part(1, 1), 4);
    }
}
