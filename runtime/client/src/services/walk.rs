//! Walking through an address space: every node that is reachable, once.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::collections::{HashSet, VecDeque};

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream, Stream};
use uaforge_codec::{ExpandedNodeId, NodeId};
use uaforge_types::{BrowseDescription, BrowseDirection, ReferenceDescription};

use super::browse::{MAX_BYTES, children_of, size_of_id};
use super::pages::{BrowseOptions, Pages};
use crate::{Error, Session};

/// References of one page.
const PAGE_SIZE: u32 = 1000;
/// Nodes that are browsed together.
const PART: usize = 1000;

/// A node that a walk has come to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Visit {
    /// The node that the walk came from.
    pub parent: NodeId,
    /// Steps from the root; its children have depth 1.
    pub depth: u32,
    /// What Browse says of the node, and of the reference that leads to it.
    pub reference: ReferenceDescription,
}

/// How a walk goes on; from [`Session::walk`].
#[derive(Clone, Debug)]
struct WalkOptions {
    /// What is asked of each node.
    description: BrowseDescription,
    max_depth: u32,
    max_nodes: usize,
}

/// The nodes of a walk: a `Stream`, or `next().await`. From [`Session::walk`].
#[must_use = "it walks as nodes are asked for"]
pub struct Walk {
    session: Session,
    options: WalkOptions,
    started: bool,
    visits: BoxStream<'static, Result<Visit, Error>>,
}

impl Session {
    /// Walks from a node over all forward hierarchical references, level by level. Each node comes once,
    /// the root not at all: it is noticed where a server's references lead back. What the walk remembers
    /// are the NodeIds of the nodes it has seen.
    ///
    /// A node that cannot be browsed gives an error in the place of its children, and the walk goes on.
    ///
    /// ```no_run
    /// # use uaforge_client::{Error, Session};
    /// # use uaforge_types::ids;
    /// # async fn example(session: Session) -> Result<(), Error> {
    /// let objects = session.resolve(ids::object::OBJECTS_FOLDER)?;
    /// let mut walk = session.walk(objects).max_depth(5);
    /// while let Some(visit) = walk.next().await {
    ///     let visit = visit?;
    ///     println!("{:indent$}{}", "", visit.reference.browse_name, indent = visit.depth as usize);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn walk(&self, root: NodeId) -> Walk {
        let options =
            WalkOptions { description: children_of(root), max_depth: u32::MAX, max_nodes: 1_000_000 };
        Walk { session: self.clone(), options, started: false, visits: stream::empty().boxed() }
    }
}

impl Walk {
    /// Follows references of this type and its subtypes; default HierarchicalReferences
    /// (OPC 10000-3 §7.3).
    pub fn references(mut self, reference_type: NodeId) -> Self {
        self.options.description.reference_type_id = reference_type;
        self
    }

    /// Follows references backwards.
    pub fn inverse(mut self) -> Self {
        self.options.description.browse_direction = BrowseDirection::INVERSE;
        self
    }

    /// Does not follow the references of nodes this many steps from the root; default no limit.
    pub fn max_depth(mut self, steps: u32) -> Self {
        self.options.max_depth = steps;
        self
    }

    /// Nodes that the walk goes to; default 1,000,000. With more, or with NodeIds above 256 MiB together,
    /// it ends with [`Error::Endless`].
    pub fn max_nodes(mut self, nodes: usize) -> Self {
        self.options.max_nodes = nodes;
        self
    }

    /// The next node; `None` behind the last.
    ///
    /// # Errors
    /// A node cannot be browsed; the walk goes on. Or there are too many nodes; then it has ended.
    pub async fn next(&mut self) -> Option<Result<Visit, Error>> {
        self.running().next().await
    }

    fn running(&mut self) -> &mut BoxStream<'static, Result<Visit, Error>> {
        if !self.started {
            self.started = true;
            let walker = Walker::new(&self.session, self.options.clone());
            let step = |mut walker: Walker| async move { walker.next().await.map(|visit| (visit, walker)) };
            self.visits = stream::unfold(walker, step).boxed();
        }
        &mut self.visits
    }
}

impl Stream for Walk {
    type Item = Result<Visit, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.running().as_mut().poll_next(cx)
    }
}

impl fmt::Debug for Walk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Walk").field("options", &self.options).finish_non_exhaustive()
    }
}

/// A node whose references are to be followed.
struct Place {
    node_id: NodeId,
    depth: u32,
}

struct Walker {
    session: Session,
    options: WalkOptions,
    seen: HashSet<NodeId>,
    /// Bytes of the ids in `seen`, beside their own.
    bytes: usize,
    frontier: VecDeque<Place>,
    /// Nodes that are browsed now, and their pages.
    sources: Vec<Place>,
    pages: Option<Pages<std::vec::IntoIter<BrowseDescription>>>,
    ready: VecDeque<Result<Visit, Error>>,
}

impl Walker {
    fn new(session: &Session, options: WalkOptions) -> Self {
        let root = options.description.node_id.clone();
        Self {
            session: session.clone(),
            options,
            seen: HashSet::from([root.clone()]),
            bytes: 0,
            frontier: VecDeque::from([Place { node_id: root, depth: 0 }]),
            sources: Vec::new(),
            pages: None,
            ready: VecDeque::new(),
        }
    }

    async fn next(&mut self) -> Option<Result<Visit, Error>> {
        loop {
            if let Some(visit) = self.ready.pop_front() {
                return Some(visit);
            }
            let Some(pages) = &mut self.pages else {
                if self.frontier.is_empty() {
                    return None;
                }
                self.begin();
                continue;
            };
            match pages.next().await {
                None => self.pages = None,
                Some(page) => match page.references {
                    Ok(references) => self.arrive(page.index, references),
                    Err(error) => self.ready.push_back(Err(error)),
                },
            }
        }
    }

    /// Browses the next nodes of the frontier.
    fn begin(&mut self) {
        let count = self.frontier.len().min(PART);
        self.sources = self.frontier.drain(..count).collect();
        let described = self.sources.iter().map(|place| BrowseDescription {
            node_id: place.node_id.clone(),
            ..self.options.description.clone()
        });
        let descriptions: Vec<_> = described.collect();
        let options = BrowseOptions { page_size: PAGE_SIZE, ..BrowseOptions::default() };
        self.pages = Some(Pages::new(&self.session, descriptions.into_iter(), options));
    }

    fn arrive(&mut self, index: usize, references: Vec<ReferenceDescription>) {
        let Some(Place { node_id: parent, depth }) = self.sources.get(index) else {
            return;
        };
        let depth = depth.saturating_add(1);
        for reference in references {
            let here = self.here(&reference.node_id);
            let target = here.clone().unwrap_or_else(|| reference.node_id.node_id.clone());
            let is_new = match &here {
                Some(node_id) => self.seen.insert(node_id.clone()),
                // A node of another server is told, but neither remembered nor followed.
                None => true,
            };
            if !is_new {
                continue;
            }
            self.bytes = self.bytes.saturating_add(size_of_id(&target));
            if let Some(error) = self.too_much(&target) {
                self.frontier.clear();
                self.pages = None;
                self.ready.push_back(Err(error));
                return;
            }
            if let Some(node_id) = here.filter(|_| depth < self.options.max_depth) {
                self.frontier.push_back(Place { node_id, depth });
            }
            self.ready.push_back(Ok(Visit { parent: parent.clone(), depth, reference }));
        }
    }

    /// Whether the walk has to end at this node.
    fn too_much(&self, node: &NodeId) -> Option<Error> {
        if self.seen.len() > self.options.max_nodes {
            let reason = "the walk has come to more nodes than it may";
            return Some(Error::endless(node, reason, self.options.max_nodes));
        }
        let reason = "the NodeIds of the walk need more bytes of memory than they may";
        (self.bytes > MAX_BYTES).then(|| Error::endless(node, reason, MAX_BYTES))
    }

    /// The NodeId of a target on this server.
    fn here(&self, target: &ExpandedNodeId) -> Option<NodeId> {
        if target.server_index != 0 {
            return None;
        }
        match target.namespace_uri.as_str() {
            None | Some("") => Some(target.node_id.clone()),
            Some(uri) => {
                let index = self.session.namespaces().index_of(uri)?;
                Some(target.node_id.with_namespace(index))
            }
        }
    }
}
