//! Recorded conversations of other stacks: in either role, given what the other side sent and the recorded
//! random values, ids and times, our channels say what was recorded; our types read every body and write
//! it again; our server answers the recorded clients.
//!
//! `UAFORGE_CAPTURES` names a folder with further recordings.

mod bodies;
mod client;
mod recorded;
mod served;
mod server;
