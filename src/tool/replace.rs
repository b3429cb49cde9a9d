//! Replacing a file's content at once.
//!
//! Invariants: readers see the old bytes or the new ones, never a part; permission bits and, where the
//! system allows it, the owner are kept; a file that changed since it was looked at is left alone.
//! A temporary name is used in the open folder itself (not a path), so that a folder swapped for a link
//! cannot lead the write elsewhere.

use std::ffi::OsString;
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};

use rustix::fs::{Access, AtFlags, Gid, Mode, OFlags, Uid};
use rustix::io::Errno;

use super::open::{OpenError, Place, Stamp, stamp};

/// Tries to find a free temporary name.
const NAMES_MAX: u32 = 16;

/// Writes `bytes` to the place; `before` is what stood there when its content was compared.
pub(super) fn replace(place: &Place, before: Option<Stamp>, bytes: &[u8]) -> Result<(), OpenError> {
    if before.is_some() {
        // A rename needs no right to the file itself, but a read-only file is meant to stay as it is.
        rustix::fs::accessat(&place.folder, &place.name, Access::WRITE_OK, AtFlags::empty())?;
    }
    let (name, file) = temporary(place)?;
    let written = fill(&file, before, bytes).and_then(|()| {
        if stamp(place)? != before {
            return Err(OpenError::Other(io::Error::other(
                "it changed at this very moment; read it again",
            )));
        }
        Ok(rustix::fs::renameat(&place.folder, &name, &place.folder, &place.name)?)
    });
    if written.is_err() {
        let _ = rustix::fs::unlinkat(&place.folder, &name, AtFlags::empty());
    }
    written
}

fn fill(mut file: &File, before: Option<Stamp>, bytes: &[u8]) -> Result<(), OpenError> {
    file.write_all(bytes)?;
    if let Some(before) = before {
        let (user, group) = before.owner;
        // Fails for files of others; the mode is what must hold.
        let _ = rustix::fs::fchown(file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)));
        let bits = (before.mode & 0o7777) as rustix::fs::RawMode;
        rustix::fs::fchmod(file, Mode::from_raw_mode(bits))?;
    }
    file.sync_all()?;
    Ok(())
}

fn temporary(place: &Place) -> Result<(OsString, File), OpenError> {
    let random = RandomState::new();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for attempt in 0..NAMES_MAX {
        let name = OsString::from(format!(".crystal-{:016x}.tmp", random.hash_one(attempt)));
        // The mode that a new file gets anyway (the umask applies); an old file's bits are set later.
        match rustix::fs::openat(&place.folder, &name, flags, Mode::from_raw_mode(0o666)) {
            Ok(open) => return Ok((name, File::from(open))),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Errno::EXIST.into())
}
