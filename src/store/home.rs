//! Where things are: the paths of `$CRYSTAL_HOME`, and which directories are trusted.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::disk::Disk;
use crate::base::id::SessionId;
use crate::base::time::Timestamp;

/// The home folder, `~/.crystal` unless `CRYSTAL_HOME` says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }
    pub fn root(&self) -> &Path {
        &self.root
    }
    pub fn config(&self) -> PathBuf {
        self.root.join("config.json")
    }
    pub fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }
    pub fn blobs(&self) -> PathBuf {
        self.sessions().join("blobs")
    }
    pub fn trash(&self) -> PathBuf {
        self.sessions().join(".trash")
    }
    pub fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }
    pub fn trust(&self) -> PathBuf {
        self.root.join("trust.json")
    }
    pub fn themes(&self) -> PathBuf {
        self.root.join("themes")
    }
    /// Where commands have their temporary folders, one a session.
    pub fn temp(&self) -> PathBuf {
        self.root.join("tmp")
    }
    pub fn history(&self) -> PathBuf {
        self.root.join("history")
    }
    /// The files of one session.
    pub fn session(&self, id: SessionId) -> SessionPaths {
        SessionPaths { folder: self.sessions(), blobs: self.blobs(), id, archive: None }
    }
    /// The files of a new session whose archive is kept in its workspace (`archiveLocation`).
    pub fn session_in_workspace(
        &self,
        id: SessionId,
        workspace: &Path,
        created: Timestamp,
    ) -> SessionPaths {
        let name = format!(".crystal/sessions/session-{}.jsonl", created.as_millis());
        SessionPaths { archive: Some(workspace.join(name)), ..self.session(id) }
    }
}

/// The files of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPaths {
    pub folder: PathBuf,
    pub blobs: PathBuf,
    pub id: SessionId,
    /// Where the archive is, if not beside the snapshot.
    pub archive: Option<PathBuf>,
}

impl SessionPaths {
    pub fn archive(&self) -> PathBuf {
        self.archive.clone().unwrap_or_else(|| self.folder.join(format!("{}.jsonl", self.id)))
    }
    pub fn snapshot(&self) -> PathBuf {
        self.folder.join(format!("{}.json", self.id))
    }
    /// Bytes of records that were not written to their end.
    pub fn torn(&self) -> PathBuf {
        self.archive().with_extension("jsonl.torn")
    }
    /// Names the process that has the session open; only a hint, the lock is on the archive.
    pub fn holder(&self) -> PathBuf {
        self.folder.join(format!("{}.lock", self.id))
    }
}

/// The directories that the person trusts: `trust.json`.
#[derive(Debug, Clone, PartialEq)]
pub struct Trust {
    file: Value,
}

impl Default for Trust {
    fn default() -> Self {
        Self { file: json!({"trusted": []}) }
    }
}

/// How much a directory's trust covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    Directory,
    AndBelow,
}

impl Trust {
    /// Reads the file; a missing one trusts nothing.
    pub fn load(disk: &dyn Disk, home: &Home) -> io::Result<Self> {
        match disk.read(&home.trust()) {
            Ok(bytes) => {
                let file: Value = serde_json::from_slice(&bytes)?;
                let is_valid = file.get("trusted").is_some_and(Value::is_array);
                let damaged = || io::Error::new(io::ErrorKind::InvalidData, "no list \"trusted\"");
                if is_valid { Ok(Self { file }) } else { Err(damaged()) }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Whether a directory is trusted. `resolved` has no symbolic links.
    pub fn covers(&self, resolved: &Path) -> bool {
        self.entries().iter().any(|entry| match entry {
            Value::String(path) => Path::new(path) == resolved,
            other => other.get("path").and_then(Value::as_str).is_some_and(|path| {
                let below = other.get("below").and_then(Value::as_bool).unwrap_or(false);
                Path::new(path) == resolved || (below && resolved.starts_with(path))
            }),
        })
    }

    /// Adds a directory and writes the file, keeping what this version does not know.
    pub fn add(
        &mut self,
        disk: &dyn Disk,
        home: &Home,
        resolved: &Path,
        extent: Extent,
    ) -> io::Result<()> {
        let path = resolved.to_str().ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "the path is not UTF-8 and cannot be stored",
            )
        })?;
        let entry = match extent {
            Extent::Directory => json!(path),
            Extent::AndBelow => json!({"path": path, "below": true}),
        };
        let mut file = self.file.clone();
        if let Some(list) = file.get_mut("trusted").and_then(Value::as_array_mut)
            && !list.contains(&entry)
        {
            list.push(entry);
        }
        let bytes = format!("{file:#}\n");
        replace(disk, home.root(), &home.trust(), bytes.as_bytes())?;
        self.file = file;
        Ok(())
    }

    fn entries(&self) -> &[Value] {
        self.file.get("trusted").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

/// Replaces a file whole: temporary file in the same folder, fsync, rename, fsync of the folder.
pub fn replace(disk: &dyn Disk, folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut temp = path.as_os_str().to_owned();
    temp.push(".tmp");
    let temp = PathBuf::from(temp);
    disk.create_dir(folder)?;
    let written = disk.write_temp(&temp, bytes).and_then(|()| disk.rename(&temp, path));
    if written.is_err() {
        // Best effort: a full disk should not keep half a file.
        let _kept = disk.remove(&temp);
    }
    written?;
    disk.sync_dir(folder)
}
