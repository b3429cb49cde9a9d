//! Files of sessions: disk, paths, the writer, locks.
//!
//! Invariants: folders are 0700 and files 0600 from the moment they exist; one record is one write of a
//! whole line; a snapshot is replaced whole or not at all; nothing that cannot be read is deleted.

pub mod disk;
pub mod home;
pub mod lock;
pub mod mem_disk;
pub mod reader;
pub mod scan;
pub mod task;
pub mod writer;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod file_tests;
