//! The two file formats of a session, as values: snapshot, archive records, replay, recovery.
