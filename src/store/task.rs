//! The writer on its own thread: commands in, acknowledgements out, in order.
//!
//! Invariants: every command is acknowledged once, by its number; a failing disk is reported once when it
//! begins and once when what waited has been written.

use std::sync::mpsc::{Receiver, Sender, channel as pipe};

use super::writer::{SessionWriter, StoreError};
use crate::session::message_record::BlobRef;
use crate::session::record::Record;
use crate::session::snapshot::Snapshot;

#[derive(Debug)]
enum Command {
    Append(Box<Record>),
    Sync,
    Snapshot(Box<Snapshot>),
    Blob { bytes: Vec<u8>, media_type: String },
    Close,
}

/// What came of one command.
#[derive(Debug)]
pub struct Stored {
    pub seq: u64,
    /// The blob, if the command stored one. A record that failed is kept and tried again.
    pub result: Result<Option<BlobRef>, StoreError>,
    pub notice: Option<Notice>,
}

/// A change in whether the disk takes what is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// From here on records wait in memory.
    Failing { why: String },
    /// Everything that waited is written.
    Mended,
}

/// Gives commands to a [`WriterTask`]. Each returns the number of its acknowledgement.
#[derive(Debug)]
pub struct WriterHandle {
    commands: Sender<(u64, Command)>,
    last: u64,
}

/// Does the work: [`WriterTask::run`] blocks a thread until the handle closes or is dropped.
pub struct WriterTask {
    writer: SessionWriter,
    commands: Receiver<(u64, Command)>,
    report: Box<dyn FnMut(Stored) + Send>,
    failing: Option<Reach>,
    /// A record found no room in memory either.
    has_lost: bool,
}

impl std::fmt::Debug for WriterTask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriterTask").field("writer", &self.writer).finish_non_exhaustive()
    }
}

/// Connects a writer to its handle. `report` is called on the task's thread.
pub fn channel(
    writer: SessionWriter,
    report: impl FnMut(Stored) + Send + 'static,
) -> (WriterHandle, WriterTask) {
    let (sender, commands) = pipe();
    let handle = WriterHandle { commands: sender, last: 0 };
    (
        handle,
        WriterTask { writer, commands, report: Box::new(report), failing: None, has_lost: false },
    )
}

impl WriterHandle {
    pub fn append(&mut self, record: Record) -> u64 {
        self.send(Command::Append(Box::new(record)))
    }
    /// Makes everything before it durable.
    pub fn sync(&mut self) -> u64 {
        self.send(Command::Sync)
    }
    /// Saves a snapshot of everything appended before it.
    pub fn snapshot(&mut self, snapshot: Snapshot) -> u64 {
        self.send(Command::Snapshot(Box::new(snapshot)))
    }
    pub fn blob(&mut self, bytes: Vec<u8>, media_type: impl Into<String>) -> u64 {
        self.send(Command::Blob { bytes, media_type: media_type.into() })
    }
    /// Writes what waits and releases the lock; the task ends.
    pub fn close(&mut self) -> u64 {
        self.send(Command::Close)
    }

    fn send(&mut self, command: Command) -> u64 {
        self.last += 1;
        // A task that has ended acknowledges nothing more, which its owner sees by its end.
        let _sent = self.commands.send((self.last, command));
        self.last
    }
}

impl WriterTask {
    /// Works until [`WriterHandle::close`] has succeeded, or until the handle is dropped, which closes too.
    pub fn run(mut self) {
        while let Ok((seq, command)) = self.commands.recv() {
            let is_last = matches!(command, Command::Close);
            let reach = reach(&command);
            let result = self.perform(command);
            let notice = self.notice(result.as_ref().err(), reach);
            // What could not be written at the close waits on, and is tried once more at the end.
            let is_done = is_last && result.is_ok();
            (self.report)(Stored { seq, result, notice });
            if is_done {
                return;
            }
        }
        // Closed without a word: by a panic, or after a close that failed.
        let result = self.writer.close();
        let notice = self.notice(result.as_ref().err(), Reach::Disk);
        (self.report)(Stored { seq: u64::MAX, result: result.map(|()| None), notice });
    }

    fn perform(&mut self, command: Command) -> Result<Option<BlobRef>, StoreError> {
        match command {
            Command::Append(record) => self.writer.append(*record).map(|()| None),
            Command::Sync => self.writer.sync().map(|()| None),
            Command::Snapshot(snapshot) => self.writer.save(*snapshot).map(|()| None),
            Command::Blob { bytes, media_type } => self.writer.blob(&bytes, &media_type).map(Some),
            Command::Close => self.writer.close().map(|()| None),
        }
    }

    /// Mended is what failed: an append does not mend a save, and nothing mends a record that was lost.
    fn notice(&mut self, error: Option<&StoreError>, reach: Reach) -> Option<Notice> {
        self.has_lost |= matches!(error, Some(StoreError::BacklogFull));
        match (error, self.failing) {
            (Some(error), None) => {
                self.failing = Some(reach);
                Some(Notice::Failing { why: error.to_string() })
            }
            (Some(_), Some(earlier)) => {
                self.failing = Some(earlier.max(reach));
                None
            }
            (None, Some(failed))
                if reach >= failed && !self.writer.is_behind() && !self.has_lost =>
            {
                self.failing = None;
                Some(Notice::Mended)
            }
            (None, _) => None,
        }
    }
}

/// How far a command goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// The system has it.
    System,
    /// The disk has it.
    Disk,
}

fn reach(command: &Command) -> Reach {
    match command {
        Command::Append(_) | Command::Blob { .. } => Reach::System,
        Command::Sync | Command::Snapshot(_) | Command::Close => Reach::Disk,
    }
}
