//! Browse over any number of nodes and pages in bounded memory.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream, Stream};
use uaforge_types::BrowseDescription;

use super::pages::{BrowseOptions, Page, Pages};
use crate::Session;

/// References of one page of a stream, unless it is said otherwise.
const PAGE_SIZE: u32 = 1000;

/// The pages of [`Session::browse_many`]: a `Stream`, or `next().await`.
#[must_use = "calls are made as pages are asked for"]
pub struct BrowseMany<'a> {
    session: Session,
    options: BrowseOptions,
    /// The nodes, until a page is asked for.
    nodes: Option<Box<dyn Iterator<Item = BrowseDescription> + Send + 'a>>,
    pages: BoxStream<'a, Page>,
}

impl Session {
    /// Browses any number of nodes to the last page each, in bounded memory: nodes are taken from the
    /// iterator, and pages from the server, as pages are asked for. The pages of one node come in order;
    /// those of nodes that are browsed together may come mixed, and say whose they are. Of a node with
    /// several pages a few bytes are kept for each reference, to notice what comes again.
    ///
    /// Nodes that find the server without a free continuation point (Bad_NoContinuationPoints) are asked
    /// for again. What does not end is ended with [`Error::Endless`](crate::Error::Endless). If the stream
    /// is dropped before its end, the server gets its continuation points back.
    ///
    /// ```no_run
    /// # use uaforge_client::{Error, Session};
    /// # use uaforge_types::BrowseDescription;
    /// # async fn example(session: Session, folders: Vec<BrowseDescription>) -> Result<(), Error> {
    /// let mut pages = session.browse_many(folders);
    /// while let Some(page) = pages.next().await {
    ///     for reference in page.references? {
    ///         println!("{}: {}", page.index, reference.browse_name);
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn browse_many<'a, I>(&self, nodes: I) -> BrowseMany<'a>
    where
        I: IntoIterator<Item = BrowseDescription, IntoIter: Send + 'a>,
    {
        let options = BrowseOptions { page_size: PAGE_SIZE, ..BrowseOptions::default() };
        let nodes = Some(Box::new(nodes.into_iter()) as Box<dyn Iterator<Item = _> + Send + 'a>);
        BrowseMany { session: self.clone(), options, nodes, pages: stream::empty().boxed() }
    }
}

impl<'a> BrowseMany<'a> {
    /// References that are taken of one node; default 1,000,000. With more the node ends with an error.
    pub fn max_references(mut self, references: usize) -> Self {
        self.options.max_references = references;
        self
    }

    /// References of one page; default 1000. 0: the server decides.
    pub fn page_size(mut self, references: u32) -> Self {
        self.options.page_size = references;
        self
    }

    /// Another time than the session's usual one, for each call that is made.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.options.timeout = Some(time);
        self
    }

    /// The next page; `None` behind the last.
    pub async fn next(&mut self) -> Option<Page> {
        self.running().next().await
    }

    fn running(&mut self) -> &mut BoxStream<'a, Page> {
        if let Some(nodes) = self.nodes.take() {
            let pages = Pages::new(&self.session, nodes, self.options.clone());
            let step = |mut pages: Pages<_>| async move { pages.next().await.map(|page| (page, pages)) };
            self.pages = stream::unfold(pages, step).boxed();
        }
        &mut self.pages
    }
}

impl Stream for BrowseMany<'_> {
    type Item = Page;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Page>> {
        self.running().as_mut().poll_next(cx)
    }
}

impl fmt::Debug for BrowseMany<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BrowseMany").field("options", &self.options).finish_non_exhaustive()
    }
}
