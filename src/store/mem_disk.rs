//! A disk in memory that can crash and fail: for tests of what survives.
//!
//! Invariants: after a crash no operation does anything; what was not made durable (bytes by the file's
//! sync, names by the folder's) may be kept or lost, as [`MemDisk::reboot`] is told.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::disk::{AppendFile, Disk, Stat};

/// A disk in memory. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct MemDisk(Arc<Mutex<Inner>>);

/// What became of data that was not made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsynced {
    Kept,
    Lost,
}

#[derive(Debug, Clone, Default)]
struct Inner {
    files: Vec<File>,
    names: BTreeMap<PathBuf, usize>,
    durable_names: BTreeMap<PathBuf, usize>,
    locked: HashSet<usize>,
    operations: usize,
    crash: Option<Crash>,
    is_down: bool,
    failing: Option<io::ErrorKind>,
    space: Option<usize>,
}

#[derive(Debug, Clone, Default)]
struct File {
    bytes: Vec<u8>,
    durable: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Crash {
    after: usize,
    cut: usize,
}

impl MemDisk {
    /// Crashes in operation `after` (from 1); if it writes, `cut` bytes of it arrive.
    pub fn crash_at(&self, after: usize, cut: usize) {
        self.inner().crash = Some(Crash { after, cut });
    }

    /// Lets every changing operation fail, or works again.
    pub fn fail_with(&self, kind: Option<io::ErrorKind>) {
        self.inner().failing = kind;
    }

    /// Lets appends take only so many more bytes.
    pub fn set_space(&self, bytes: Option<usize>) {
        self.inner().space = bytes;
    }

    /// How many changing operations there were.
    pub fn operations(&self) -> usize {
        self.inner().operations
    }

    /// The disk as the next process finds it.
    #[must_use]
    pub fn reboot(&self, unsynced: Unsynced) -> Self {
        let before = self.inner().clone();
        let mut files = before.files;
        let names = match unsynced {
            Unsynced::Kept => before.names,
            Unsynced::Lost => {
                for file in &mut files {
                    file.bytes.clone_from(&file.durable);
                }
                before.durable_names
            }
        };
        for file in &mut files {
            file.durable.clone_from(&file.bytes);
        }
        let durable_names = names.clone();
        Self(Arc::new(Mutex::new(Inner { files, names, durable_names, ..Inner::default() })))
    }

    /// Puts a file there, durable.
    pub fn put(&self, path: &Path, bytes: &[u8]) {
        let mut inner = self.inner();
        inner.files.push(File { bytes: bytes.to_vec(), durable: bytes.to_vec() });
        let file = inner.files.len() - 1;
        inner.names.insert(path.to_owned(), file);
        inner.durable_names.insert(path.to_owned(), file);
    }

    /// The names of all files.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.inner().names.keys().cloned().collect()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // A panicked test has already failed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Counts a changing operation. Returns how many bytes of a write arrive before the crash, or
    /// `None` if it is carried out whole.
    fn step(&mut self) -> io::Result<Option<usize>> {
        if self.is_down {
            return Err(io::Error::other("crashed"));
        }
        if let Some(kind) = self.failing {
            return Err(kind.into());
        }
        self.operations += 1;
        match self.crash {
            Some(crash) if crash.after == self.operations => {
                self.is_down = true;
                Ok(Some(crash.cut))
            }
            Some(_) | None => Ok(None),
        }
    }

    /// A changing operation that does not write: a crash in it leaves it undone.
    fn step_whole(&mut self) -> io::Result<()> {
        match self.step()? {
            None => Ok(()),
            Some(_) => Err(io::Error::other("crashed")),
        }
    }

    fn file(&self, path: &Path) -> io::Result<usize> {
        self.names.get(path).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Disk for MemDisk {
    fn create_dir(&self, _path: &Path) -> io::Result<()> {
        self.inner().step_whole()
    }

    fn open_append(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        let mut inner = self.inner();
        inner.step_whole()?;
        let file = inner.file(path).unwrap_or_else(|_| {
            inner.files.push(File::default());
            let file = inner.files.len() - 1;
            inner.names.insert(path.to_owned(), file);
            file
        });
        Ok(Box::new(MemAppend { disk: self.clone(), file, is_locked: false }))
    }

    fn write_temp(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut inner = self.inner();
        let cut = inner.step()?;
        let arrived = bytes[..cut.unwrap_or(bytes.len()).min(bytes.len())].to_vec();
        let durable = if cut.is_some() { Vec::new() } else { arrived.clone() };
        inner.files.push(File { bytes: arrived, durable });
        let file = inner.files.len() - 1;
        inner.names.insert(path.to_owned(), file);
        if cut.is_some() { Err(io::Error::other("crashed")) } else { Ok(()) }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut inner = self.inner();
        inner.step_whole()?;
        let file = inner.file(from)?;
        inner.names.remove(from);
        inner.names.insert(to.to_owned(), file);
        Ok(())
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut inner = self.inner();
        inner.step_whole()?;
        let is_here = |name: &PathBuf| name.parent() == Some(path);
        inner.durable_names.retain(|name, _| !is_here(name));
        let here: Vec<(PathBuf, usize)> = inner
            .names
            .iter()
            .filter(|(name, _)| is_here(name))
            .map(|(name, file)| (name.clone(), *file))
            .collect();
        inner.durable_names.extend(here);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut inner = self.inner();
        inner.step_whole()?;
        inner.names.remove(path).map(|_| ()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let inner = self.inner();
        let file = inner.file(path)?;
        Ok(inner.files[file].bytes.clone())
    }

    fn read_at(&self, path: &Path, offset: u64, bytes_max: usize) -> io::Result<Vec<u8>> {
        let bytes = self.read(path)?;
        let start = (offset as usize).min(bytes.len());
        let end = (start + bytes_max).min(bytes.len());
        Ok(bytes[start..end].to_vec())
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let bytes = self.read(path)?.len() as u64;
        Ok(Stat { bytes, modified_ms: 0 })
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let inner = self.inner();
        let here = inner.names.keys().filter(|name| name.parent() == Some(path));
        Ok(here.filter_map(|name| Some(name.file_name()?.to_str()?.to_owned())).collect())
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }
}

#[derive(Debug)]
struct MemAppend {
    disk: MemDisk,
    file: usize,
    is_locked: bool,
}

impl AppendFile for MemAppend {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut inner = self.disk.inner();
        let cut = inner.step()?;
        let space = inner.space.unwrap_or(usize::MAX);
        let arrived = cut.unwrap_or(bytes.len()).min(bytes.len()).min(space);
        inner.space = inner.space.map(|space| space - arrived);
        if arrived == 0 && space == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        inner.files[self.file].bytes.extend_from_slice(&bytes[..arrived]);
        if cut.is_some() { Err(io::Error::other("crashed")) } else { Ok(arrived) }
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut inner = self.disk.inner();
        inner.step_whole()?;
        let file = &mut inner.files[self.file];
        file.durable.clone_from(&file.bytes);
        Ok(())
    }

    fn set_len(&mut self, bytes: u64) -> io::Result<()> {
        let mut inner = self.disk.inner();
        inner.step_whole()?;
        inner.files[self.file].bytes.truncate(bytes as usize);
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.inner().files[self.file].bytes.len() as u64)
    }

    fn try_lock(&mut self) -> io::Result<bool> {
        let mut inner = self.disk.inner();
        self.is_locked = inner.locked.insert(self.file);
        Ok(self.is_locked)
    }
}

impl Drop for MemAppend {
    fn drop(&mut self) {
        if self.is_locked {
            self.disk.inner().locked.remove(&self.file);
        }
    }
}
