//! The services as methods of a session.

mod browse;
mod browse_many;
pub(crate) mod call;
mod cancel;
mod discovery;
mod many;
mod pages;
mod read;
mod register;
mod translate;
mod types;
mod walk;
mod write;

pub use browse::{BrowseAll, BrowsePage};
pub use browse_many::BrowseMany;
pub use call::{CallMethod, CallMethods};
pub use discovery::Discovery;
pub use many::{ReadMany, WriteMany};
pub use pages::Page;
pub use read::{Read, ReadItem, ReadOptions};
pub use types::LoadedTypes;
pub use walk::{Visit, Walk};
pub(crate) use write::taken;
pub use write::{Write, WriteItem, WriteOptions};
