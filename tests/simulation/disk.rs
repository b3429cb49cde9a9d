//! The in-memory disk, whose renames can be made to fail.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crystal::store::disk::{AppendFile, Disk, Stat};
use crystal::store::mem_disk::{MemDisk, Unsynced};

#[derive(Debug, Clone, Default)]
pub struct FaultyDisk {
    pub memory: MemDisk,
    renames_fail: Arc<AtomicBool>,
}

impl FaultyDisk {
    pub fn let_renames_fail(&self, fail: bool) {
        self.renames_fail.store(fail, Ordering::Relaxed);
    }

    pub fn heal(&self) {
        self.memory.fail_with(None);
        self.memory.set_space(None);
        self.let_renames_fail(false);
    }

    pub fn reboot(&self, unsynced: Unsynced) -> Self {
        Self { memory: self.memory.reboot(unsynced), ..Self::default() }
    }
}

impl Disk for FaultyDisk {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.memory.create_dir(path)
    }
    fn open_append(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        self.memory.open_append(path)
    }
    fn write_temp(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.memory.write_temp(path, bytes)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if self.renames_fail.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.memory.rename(from, to)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.memory.sync_dir(path)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.memory.remove(path)
    }
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.memory.read(path)
    }
    fn read_at(&self, path: &Path, offset: u64, bytes_max: usize) -> io::Result<Vec<u8>> {
        self.memory.read_at(path, offset, bytes_max)
    }
    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.memory.stat(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.memory.list(path)
    }
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.memory.resolve(path)
    }
}
