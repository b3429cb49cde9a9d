//! One session is open in one process.
//!
//! Invariant: the lock is the system's, on the open archive: it ends with the process, so nothing stale
//! can block. The file beside it only names the holder, and is believed only while the lock is held.

use std::io;

use super::disk::{AppendFile, Disk};
use super::home::SessionPaths;

/// Why a session's archive was not opened.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("session {id} is open in another process{}; fork it to work on it here", holder(*.pid))]
    Held { id: crate::base::id::SessionId, pid: Option<u32> },
    #[error("cannot open the archive of session {id}: {source}")]
    Open { id: crate::base::id::SessionId, source: io::Error },
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (pid {pid})"))
}

/// Opens a session's archive for this process alone; makes it if it is missing.
pub fn open(disk: &dyn Disk, paths: &SessionPaths) -> Result<Box<dyn AppendFile>, LockError> {
    let failed = |source| LockError::Open { id: paths.id, source };
    let mut file = disk.open_append(&paths.archive()).map_err(failed)?;
    if !file.try_lock().map_err(failed)? {
        return Err(LockError::Held { id: paths.id, pid: holder_pid(disk, paths) });
    }
    // Only a hint for others: not being able to write it must not keep anyone out.
    let _hint = name_holder(disk, paths);
    Ok(file)
}

/// Without waiting for the disk: after a crash of the machine nobody holds the lock.
fn name_holder(disk: &dyn Disk, paths: &SessionPaths) -> io::Result<()> {
    let mut file = disk.open_append(&paths.holder())?;
    file.set_len(0)?;
    file.write(format!("{}\n", std::process::id()).as_bytes()).map(|_| ())
}

fn holder_pid(disk: &dyn Disk, paths: &SessionPaths) -> Option<u32> {
    let bytes = disk.read_at(&paths.holder(), 0, 32).ok()?;
    std::str::from_utf8(&bytes).ok()?.trim().parse().ok()
}
