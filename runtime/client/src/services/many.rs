//! Read and Write over any number of nodes in bounded memory.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};

use futures_util::StreamExt as _;
use futures_util::stream::{BoxStream, Stream};
use uaforge_codec::{DataValue, StatusCode};
use uaforge_types::WriteRequest;

use super::read::{ReadItem, ReadOptions};
use super::write::WriteItem;
use crate::{Error, Session, batch};

/// Most operations of one call of a stream, so that results need no more memory than some of them.
const PART: usize = 1000;

macro_rules! many {
    ($(#[$doc:meta])* $name:ident, $item:ty, $what:literal) => {
        $(#[$doc])*
        #[must_use = "calls are made as results are asked for"]
        pub struct $name<'a>(BoxStream<'a, Result<$item, Error>>);

        impl $name<'_> {
            #[doc = concat!("The next ", $what, "; `None` behind the last.")]
            ///
            /// # Errors
            /// The call that this item was part of failed as a whole.
            pub async fn next(&mut self) -> Option<Result<$item, Error>> {
                self.0.next().await
            }
        }

        impl Stream for $name<'_> {
            type Item = Result<$item, Error>;

            fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
                self.0.as_mut().poll_next(cx)
            }
        }

        impl fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
}

many! {
    /// The results of [`Session::read_many`]: exactly one for each item, in order. A `Stream`, or
    /// `next().await`.
    ReadMany, DataValue, "value"
}

many! {
    /// The results of [`Session::write_many`]: exactly one for each item, in order. A `Stream`, or
    /// `next().await`.
    WriteMany, StatusCode, "status"
}

impl Session {
    /// Reads any number of items in bounded memory: they are taken from the iterator as results are asked
    /// for, and a bounded number of calls is on its way at once
    /// ([`parallel_parts`](crate::ClientBuilder::parallel_parts)), each with at most 1000 items and no
    /// more than the server takes.
    ///
    /// ```no_run
    /// # use uaforge_client::{Error, Session};
    /// # use uaforge_codec::NodeId;
    /// # async fn example(session: Session) -> Result<(), Error> {
    /// let nodes = (0..100_000).map(|number| NodeId::numeric(2, number));
    /// let mut values = session.read_many(nodes);
    /// while let Some(value) = values.next().await {
    ///     println!("{:?}", value?);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_many<'a, I>(&self, items: I) -> ReadMany<'a>
    where
        I: IntoIterator<Item: Into<ReadItem>, IntoIter: Send + 'a>,
    {
        self.read_many_with(&ReadOptions::new(), items)
    }

    /// As [`Session::read_many`], with options.
    pub fn read_many_with<'a, I>(&self, options: &ReadOptions, items: I) -> ReadMany<'a>
    where
        I: IntoIterator<Item: Into<ReadItem>, IntoIter: Send + 'a>,
    {
        let items = items.into_iter().map(|item| item.into().0);
        ReadMany(batch::stream(self, options.request(), items, options.timeout, PART).boxed())
    }

    /// Writes any number of items in bounded memory; see [`Session::read_many`].
    ///
    /// ```no_run
    /// # use uaforge_client::{Error, Session};
    /// # use uaforge_codec::NodeId;
    /// # async fn example(session: Session) -> Result<(), Error> {
    /// let zeros = (0..100_000).map(|number| (NodeId::numeric(2, number), 0.0));
    /// let mut statuses = session.write_many(zeros);
    /// while let Some(status) = statuses.next().await {
    ///     assert!(status?.is_good());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn write_many<'a, I>(&self, items: I) -> WriteMany<'a>
    where
        I: IntoIterator<Item: Into<WriteItem>, IntoIter: Send + 'a>,
    {
        let items = items.into_iter().map(|item| item.into().0);
        WriteMany(batch::stream(self, WriteRequest::default(), items, None, PART).boxed())
    }
}
