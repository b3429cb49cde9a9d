//! Files of sessions: disk, paths, the writer, locks.
