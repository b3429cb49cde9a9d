//! Writes one session's files.
//!
//! Invariants: nothing exists before the session is worth saving; records reach the file in the order in
//! which they came, each as one whole line; a failed write is kept and tried again, never glued to the
//! next; a snapshot never claims records that are not in the archive.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::disk::{AppendFile, Disk};
use super::home::{Home, SessionPaths, replace};
use super::lock::{self, LockError};
use crate::base::limits::RECORD_TEXT_BYTES_MAX;
use crate::base::secret::Redactor;
use crate::session::codec::{self, Torn};
use crate::session::message_record::{ArchivedMessage, BlobRef, OriginalText};
use crate::session::obs::sha256_hex;
use crate::session::record::{self, Record};
use crate::session::snapshot::Snapshot;

/// Bytes of records kept in memory while the disk takes none: hours of a conversation.
const BACKLOG_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Why something was not written. What was to be appended is kept, unless the backlog is full.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error("cannot make the sessions folder: {0}")]
    Folder(io::Error),
    #[error("cannot write the archive: {0}")]
    Append(io::Error),
    #[error("cannot make the archive durable: {0}")]
    Sync(io::Error),
    #[error("cannot save the snapshot: {0}")]
    Snapshot(io::Error),
    #[error("cannot store a blob: {0}")]
    Blob(io::Error),
    #[error("too much waits to be written ({BACKLOG_BYTES_MAX} bytes); this record is lost")]
    BacklogFull,
}

/// The writer of one session.
#[derive(Debug)]
pub struct SessionWriter {
    disk: Arc<dyn Disk>,
    paths: SessionPaths,
    redactor: Redactor,
    file: Option<Box<dyn AppendFile>>,
    /// Whole lines in the file.
    end: u64,
    torn: Option<Torn>,
    /// Part of a line is in the file after `end`.
    is_ragged: bool,
    is_started: bool,
    unsynced: bool,
    backlog: VecDeque<Vec<u8>>,
    backlog_bytes: usize,
}

impl SessionWriter {
    /// A writer of a new session: no file exists until a record is worth it.
    pub fn new(disk: Arc<dyn Disk>, paths: SessionPaths, redactor: Redactor) -> Self {
        Self {
            disk,
            paths,
            redactor,
            file: None,
            end: 0,
            torn: None,
            is_ragged: false,
            is_started: false,
            unsynced: false,
            backlog: VecDeque::new(),
            backlog_bytes: 0,
        }
    }

    /// A writer that goes on with a saved session, whose archive is open and locked.
    pub fn resume(
        disk: Arc<dyn Disk>,
        paths: SessionPaths,
        redactor: Redactor,
        file: Box<dyn AppendFile>,
        end: u64,
        torn: Option<Torn>,
    ) -> Self {
        Self { file: Some(file), end, torn, is_started: true, ..Self::new(disk, paths, redactor) }
    }

    /// Whether records wait in memory because they could not be written.
    pub fn is_behind(&self) -> bool {
        self.is_started && !self.backlog.is_empty()
    }

    /// How many records wait.
    pub fn backlog_len(&self) -> usize {
        self.backlog.len()
    }

    /// Where the archive's last whole line ends.
    pub fn archive_bytes(&self) -> u64 {
        self.end
    }

    /// Appends a record as one line. On an error the record waits, and is tried again with the next.
    pub fn append(&mut self, record: Record) -> Result<(), StoreError> {
        self.is_started |= record.is_worth_saving();
        let line = self.line(record);
        if self.backlog_bytes + line.len() > BACKLOG_BYTES_MAX {
            return Err(StoreError::BacklogFull);
        }
        self.backlog_bytes += line.len();
        self.backlog.push_back(line);
        self.flush()
    }

    /// Makes everything appended durable.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.flush()?;
        if self.unsynced
            && let Some(file) = &mut self.file
        {
            file.sync().map_err(StoreError::Sync)?;
            self.unsynced = false;
        }
        Ok(())
    }

    /// Saves a snapshot of everything appended so far, after making that durable.
    pub fn save(&mut self, mut snapshot: Snapshot) -> Result<(), StoreError> {
        self.is_started |= snapshot.is_worth_saving();
        if !self.is_started {
            return Ok(());
        }
        self.sync()?;
        snapshot.archive.offset = self.end;
        snapshot.archive.path =
            self.paths.archive.as_ref().map(|path| path.to_string_lossy().into_owned());
        let bytes = self.redacted_snapshot(&snapshot);
        replace(&*self.disk, &self.paths.folder, &self.paths.snapshot(), &bytes)
            .map_err(StoreError::Snapshot)
    }

    /// Stores bytes once, under their digest.
    pub fn blob(&mut self, bytes: &[u8], media_type: &str) -> Result<BlobRef, StoreError> {
        store_blob(&*self.disk, &self.paths, bytes, media_type).map_err(StoreError::Blob)
    }

    /// Ends the writing: what waits is tried once more, the lock is released.
    pub fn close(&mut self) -> Result<(), StoreError> {
        let synced = self.sync();
        if self.file.take().is_some() {
            // Only a hint, see `lock`.
            let _gone = self.disk.remove(&self.paths.holder());
        }
        synced
    }

    fn line(&mut self, record: Record) -> Vec<u8> {
        let record = match record.redacted(&self.redactor) {
            Record::Message(archived) => Record::Message(self.with_blobs(archived)),
            other => other,
        };
        codec::encode(&record)
    }

    /// Moves texts that are too long for a record to blobs. Where that fails the record holds them.
    fn with_blobs(&self, mut archived: ArchivedMessage) -> ArchivedMessage {
        for original in &mut archived.originals {
            if let OriginalText::Whole { text, .. } = &original.text
                && text.len() > RECORD_TEXT_BYTES_MAX
                && let Ok(blob) =
                    store_blob(&*self.disk, &self.paths, text.as_bytes(), "text/plain")
            {
                original.text = OriginalText::Blob(blob);
            }
        }
        archived
    }

    fn redacted_snapshot(&self, snapshot: &Snapshot) -> Vec<u8> {
        let bytes = snapshot.to_bytes();
        let Ok(mut value) = serde_json::from_slice(&bytes) else { return bytes };
        if record::redact(&mut value, &self.redactor) {
            format!("{value}\n").into_bytes()
        } else {
            bytes
        }
    }

    /// Writes what waits, in order, until the disk refuses.
    fn flush(&mut self) -> Result<(), StoreError> {
        let is_in_order = self.file.is_some() && self.torn.is_none();
        if !self.is_started || (self.backlog.is_empty() && is_in_order) {
            return Ok(());
        }
        self.open()?;
        self.mend_torn().map_err(StoreError::Append)?;
        while let Some(line) = self.backlog.front() {
            self.is_ragged = cut_ragged(&mut self.file, self.is_ragged, &mut self.end)
                .map_err(StoreError::Append)?;
            let Some(file) = &mut self.file else { break };
            self.unsynced = true;
            match file.write(line) {
                Ok(written) if written == line.len() => {
                    self.end += written as u64;
                    self.backlog_bytes -= written;
                    self.backlog.pop_front();
                }
                Ok(_) => {
                    self.is_ragged = true;
                    return Err(StoreError::Append(io::ErrorKind::StorageFull.into()));
                }
                Err(error) => {
                    self.is_ragged = true;
                    return Err(StoreError::Append(error));
                }
            }
        }
        Ok(())
    }

    fn open(&mut self) -> Result<(), StoreError> {
        if self.file.is_some() {
            return Ok(());
        }
        let archive = self.paths.archive();
        let folder = archive.parent().unwrap_or(&self.paths.folder).to_owned();
        self.make_folders(&folder).map_err(StoreError::Folder)?;
        let file = lock::open(&*self.disk, &self.paths)?;
        self.end = file.len().map_err(StoreError::Append)?;
        // Without this a power cut could lose the file's name although its bytes are durable.
        self.disk.sync_dir(&folder).map_err(StoreError::Folder)?;
        self.file = Some(file);
        Ok(())
    }

    fn make_folders(&self, archive_folder: &Path) -> io::Result<()> {
        if let Some(home) = self.paths.folder.parent() {
            self.disk.create_dir(home)?;
        }
        self.disk.create_dir(&self.paths.folder)?;
        if self.paths.archive.is_none() {
            return Ok(());
        }
        let is_first_use = self.disk.list(archive_folder).map_or(true, |names| names.is_empty());
        self.disk.create_dir(archive_folder)?;
        if is_first_use {
            // Only once: who wants to commit archives takes it away.
            replace(&*self.disk, archive_folder, &archive_folder.join(".gitignore"), b"*\n")?;
        }
        Ok(())
    }

    /// Closes or cuts off what a crash left after the last whole line; the cut bytes are kept.
    fn mend_torn(&mut self) -> io::Result<()> {
        let (Some(torn), Some(file)) = (self.torn, &mut self.file) else { return Ok(()) };
        if torn.is_complete {
            if file.write(b"\n")? != 1 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.end = file.len()?;
        } else {
            let bytes = (file.len()?.saturating_sub(torn.offset)) as usize;
            let cut = self.disk.read_at(&self.paths.archive(), torn.offset, bytes)?;
            keep_torn(&*self.disk, &self.paths, &cut)?;
            file.set_len(torn.offset)?;
            self.end = torn.offset;
        }
        self.unsynced = true;
        self.torn = None;
        Ok(())
    }
}

/// Removes part of a line after the last whole one; where the file cannot be cut, the part is closed, so
/// that it costs a damaged line and not the next record. Returns whether a part is still there.
fn cut_ragged(
    file: &mut Option<Box<dyn AppendFile>>,
    is_ragged: bool,
    end: &mut u64,
) -> io::Result<bool> {
    let Some(file) = file.as_mut().filter(|_| is_ragged) else { return Ok(is_ragged) };
    if file.len()? == *end {
        return Ok(false);
    }
    if file.set_len(*end).is_err() {
        if file.write(b"\n")? != 1 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        *end = file.len()?;
    }
    Ok(false)
}

/// Adds cut bytes to those of earlier crashes.
fn keep_torn(disk: &dyn Disk, paths: &SessionPaths, cut: &[u8]) -> io::Result<()> {
    let mut kept = disk.open_append(&paths.torn())?;
    let is_kept = kept.write(cut)? == cut.len() && kept.write(b"\n")? == 1;
    if is_kept { kept.sync() } else { Err(io::ErrorKind::StorageFull.into()) }
}

/// Stores bytes that a tool returned, once, under their digest.
pub fn put_blob(
    disk: &dyn Disk,
    home: &Home,
    bytes: &[u8],
    media_type: &str,
) -> io::Result<BlobRef> {
    store_blob_in(disk, &home.sessions(), &home.blobs(), bytes, media_type)
}

fn store_blob(
    disk: &dyn Disk,
    paths: &SessionPaths,
    bytes: &[u8],
    media_type: &str,
) -> io::Result<BlobRef> {
    store_blob_in(disk, &paths.folder, &paths.blobs, bytes, media_type)
}

fn store_blob_in(
    disk: &dyn Disk,
    folder: &Path,
    blobs: &Path,
    bytes: &[u8],
    media_type: &str,
) -> io::Result<BlobRef> {
    let sha256 = sha256_hex(bytes);
    let size = bytes.len() as u64;
    let path = blobs.join(&sha256);
    // The same picture is stored once, however often it is sent.
    if !disk.stat(&path).is_ok_and(|stat| stat.bytes == size) {
        disk.create_dir(folder)?;
        replace(disk, blobs, &path, bytes)?;
    }
    Ok(BlobRef { sha256, bytes: size, media_type: media_type.to_owned() })
}
