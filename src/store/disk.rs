//! The file operations that sessions need, so that a test can take the disk's place.
#![expect(clippy::disallowed_methods, reason = "the edge reads and writes files")]

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// A disk. Every operation is one step: it happened or it did not, but for a `write`.
pub trait Disk: Send + Sync + std::fmt::Debug {
    /// Makes a folder and its parents, private to the user; tightens a loose one.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Opens a file for appending, private to the user; makes it if it is missing.
    fn open_append(&self, path: &Path) -> io::Result<Box<dyn AppendFile>>;
    /// Writes a file that is private to the user and makes it durable; replaces one that is there.
    fn write_temp(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    fn remove(&self, path: &Path) -> io::Result<()>;
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// Reads at most `bytes_max` bytes from `offset`; fewer only at the end of the file.
    fn read_at(&self, path: &Path, offset: u64, bytes_max: usize) -> io::Result<Vec<u8>>;
    /// The size and time of a file; an error if it is none.
    fn stat(&self, path: &Path) -> io::Result<Stat>;
    /// The names in a folder, in no order.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;
    /// The path without symbolic links.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;
}

/// An archive that is open for appending. Dropping it releases its lock.
pub trait AppendFile: Send + std::fmt::Debug {
    /// One `write(2)`: returns how many bytes were written.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
    fn sync(&mut self) -> io::Result<()>;
    fn set_len(&mut self, bytes: u64) -> io::Result<()>;
    fn len(&self) -> io::Result<u64>;
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Takes the advisory lock; false if another holds it.
    fn try_lock(&mut self) -> io::Result<bool>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    pub bytes: u64,
    /// Milliseconds since 1970.
    pub modified_ms: i64,
}

/// The real disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsDisk;

impl Disk for OsDisk {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)?;
        tighten(path, &fs::metadata(path)?.permissions(), FOLDER_MODE)
    }

    fn open_append(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        let file =
            OpenOptions::new().append(true).read(true).create(true).mode(FILE_MODE).open(path)?;
        tighten(path, &file.metadata()?.permissions(), FILE_MODE)?;
        Ok(Box::new(OsAppend(file)))
    }

    fn write_temp(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        // A temporary file that a crash left is not reused: its mode may be loose, or it may be a link.
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.stat(path)?;
        fs::read(path)
    }

    fn read_at(&self, path: &Path, offset: u64, bytes_max: usize) -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(not_a_file());
        }
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        file.take(bytes_max as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let metadata = fs::metadata(path)?;
        if !metadata.is_file() {
            return Err(not_a_file());
        }
        let modified_ms = metadata.mtime() * 1_000 + metadata.mtime_nsec() / 1_000_000;
        Ok(Stat { bytes: metadata.len(), modified_ms })
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let names = fs::read_dir(path)?.filter_map(Result::ok);
        // A name that is not UTF-8 is none of ours.
        Ok(names.filter_map(|entry| entry.file_name().into_string().ok()).collect())
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize()
    }
}

/// Opening a pipe or a device would wait for ever.
fn not_a_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}

fn tighten(path: &Path, permissions: &Permissions, mode: u32) -> io::Result<()> {
    if permissions.mode() & mode == permissions.mode() & 0o777 {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(mode))
}

#[derive(Debug)]
struct OsAppend(File);

impl AppendFile for OsAppend {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.0.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn set_len(&mut self, bytes: u64) -> io::Result<()> {
        self.0.set_len(bytes)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn try_lock(&mut self) -> io::Result<bool> {
        match self.0.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
