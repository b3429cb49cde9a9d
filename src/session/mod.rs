//! The two file formats of a session, as values: snapshot, archive records, replay, recovery.
//!
//! Invariants: replaying the whole archive gives the snapshot's transcript; nothing that cannot be read is
//! an error of the whole (a damaged line costs that line, a damaged snapshot costs a replay).
//! Not here: files ([`crate::store`]), what a request sends ([`crate::conversation::pairing`]).

pub mod codec;
pub mod event;
pub mod head;
pub mod message_record;
pub mod obs;
pub mod record;
pub mod recovery;
pub mod replay;
pub mod snapshot;
pub mod state;

#[cfg(test)]
mod history_tests;
