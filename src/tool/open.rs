//! Opening what was judged, and nothing else.
//!
//! Invariant: from the root down no link is followed, so an entry swapped for a link after
//! `path::Workspace::resolve` is an error, never another file. Nothing that could block or act when it is
//! opened (pipes, sockets, devices) is opened.
//! Not here: judging a path.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::Refusal;

/// Bytes of a file that may be changed: held in memory several times over.
pub(super) const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Why a file could not be opened.
#[derive(Debug)]
pub(super) enum OpenError {
    Missing,
    /// Something that is not a regular file: its kind in words.
    NotAFile(&'static str),
    /// A link stands where none was when the path was judged, or a file where a folder was.
    Swapped,
    TooLarge(u64),
    Other(io::Error),
}

impl OpenError {
    pub(super) fn explain(&self, shown: &str) -> Refusal {
        Refusal::new(match self {
            Self::Missing => format!("{shown}: there is no such file."),
            Self::NotAFile("a folder") => {
                format!("{shown}: is a folder; use `list` to see what is in it.")
            }
            Self::NotAFile(kind) => format!("{shown}: is {kind}, not a file; it was not opened."),
            Self::Swapped => format!(
                "{shown}: a part of the path is not a folder, or became a link after it was checked; \
                 nothing was opened. Name the real path."
            ),
            Self::TooLarge(bytes) => format!(
                "{shown}: has {bytes} bytes, more than the {FILE_BYTES_MAX} that can be changed here; use a \
                 command."
            ),
            Self::Other(error) => format!("{shown}: cannot be opened: {error}"),
        })
    }
}

impl From<Errno> for OpenError {
    fn from(error: Errno) -> Self {
        match error {
            Errno::NOENT => Self::Missing,
            Errno::LOOP | Errno::NOTDIR => Self::Swapped,
            other => Self::Other(other.into()),
        }
    }
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::Other(error)
    }
}

/// What to do about folders that do not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Folders {
    MustExist,
    Create,
}

/// The folder of an entry, open, and the entry's name in it.
pub(super) struct Place {
    pub(super) folder: OwnedFd,
    pub(super) name: OsString,
}

/// What an entry was when it was looked at; equal while nobody replaced or wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) mode: u32,
    pub(super) owner: (u32, u32),
    identity: (u64, u64),
    size: i64,
    changed: (i64, i64),
}

/// Opens the folder that holds `real`, an absolute path without links.
pub(super) fn place(real: &Path, folders: Folders) -> Result<Place, OpenError> {
    let name = real.file_name().ok_or(OpenError::NotAFile("a folder"))?.to_owned();
    let parent = real.parent().unwrap_or(Path::new("/"));
    Ok(Place { folder: folder(parent, folders)?, name })
}

/// Opens a folder by an absolute path without links.
pub(super) fn folder(real: &Path, folders: Folders) -> Result<OwnedFd, OpenError> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut open = rustix::fs::open("/", flags, Mode::empty())?;
    for component in real.components() {
        let name = match component {
            Component::Normal(name) => name,
            Component::RootDir | Component::CurDir | Component::Prefix(_) => continue,
            Component::ParentDir => return Err(OpenError::Swapped),
        };
        open = match rustix::fs::openat(&open, name, flags, Mode::empty()) {
            Err(Errno::NOENT) if folders == Folders::Create => {
                match rustix::fs::mkdirat(&open, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                rustix::fs::openat(&open, name, flags, Mode::empty())?
            }
            other => other?,
        };
    }
    Ok(open)
}

/// Opens a regular file for reading.
pub(super) fn file(real: &Path) -> Result<File, OpenError> {
    let place = place(real, Folders::MustExist)?;
    file_in(&place.folder, &place.name)
}

/// Opens a regular file of an open folder.
pub(super) fn file_in(folder: &OwnedFd, name: &OsStr) -> Result<File, OpenError> {
    // Looked at before it is opened: opening a device can do something.
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    must_be_regular(stat.st_mode)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let open = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    must_be_regular(rustix::fs::fstat(&open)?.st_mode)?;
    Ok(File::from(open))
}

/// Returns what stands at a name now, `None` if nothing does.
pub(super) fn stamp(place: &Place) -> Result<Option<Stamp>, OpenError> {
    match rustix::fs::statat(&place.folder, &place.name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
        Ok(stat) => {
            must_be_regular(stat.st_mode)?;
            #[allow(
                clippy::unnecessary_cast,
                clippy::useless_conversion,
                reason = "differs by system"
            )]
            Ok(Some(Stamp {
                mode: stat.st_mode as u32,
                owner: (stat.st_uid, stat.st_gid),
                identity: (stat.st_dev as u64, stat.st_ino as u64),
                size: stat.st_size as i64,
                changed: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            }))
        }
    }
}

/// Reads a whole file of at most [`FILE_BYTES_MAX`].
pub(super) fn bytes(file: File) -> Result<Vec<u8>, OpenError> {
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        more if more > FILE_BYTES_MAX => Err(OpenError::TooLarge(more)),
        _ => Ok(bytes),
    }
}

/// The bytes at a place, `None` if there is no file.
pub(super) fn bytes_if_any(real: &Path) -> Result<Option<Vec<u8>>, OpenError> {
    match file(real) {
        Ok(file) => bytes(file).map(Some),
        Err(OpenError::Missing) => Ok(None),
        Err(error) => Err(error),
    }
}

fn must_be_regular(mode: rustix::fs::RawMode) -> Result<(), OpenError> {
    Err(match FileType::from_raw_mode(mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Symlink => OpenError::Swapped,
        FileType::Directory => OpenError::NotAFile("a folder"),
        FileType::Fifo => OpenError::NotAFile("a named pipe"),
        FileType::Socket => OpenError::NotAFile("a socket"),
        FileType::CharacterDevice | FileType::BlockDevice => OpenError::NotAFile("a device"),
        FileType::Unknown => OpenError::NotAFile("of an unknown kind"),
    })
}
