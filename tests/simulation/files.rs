//! One session's files in the simulated world: its writer lags behind, and what is durable is counted.

use std::collections::VecDeque;
use std::sync::Arc;

use crystal::app::effect::StoreOp;
use crystal::app::event::Stored;
use crystal::base::id::SessionId;
use crystal::base::secret::Redactor;
use crystal::session::codec;
use crystal::session::record::Record;
use crystal::session::replay::{Applied, Folded, Replay};
use crystal::session::state::SessionState;
use crystal::store::disk::Disk;
use crystal::store::home::Home;
use crystal::store::writer::SessionWriter;

use crate::disk::FaultyDisk;

#[derive(Debug)]
pub struct Files {
    pub id: SessionId,
    /// What the archive held when this process opened it.
    base: SessionState,
    /// Every record given since, as it reads back from its line.
    pub records: Vec<Record>,
    /// The replay of all of them.
    replay: Replay,
    /// Operations that the writer has not begun.
    waiting: VecDeque<StoreOp>,
    writer: SessionWriter,
    /// Records that the writer has taken, with success or without.
    taken: usize,
    /// Records that were in the file when the writer was last up to date, and when it last synced.
    pub written: usize,
    pub synced: usize,
    is_worth_saving: bool,
    is_failing: bool,
    pub is_closed: bool,
}

impl Files {
    pub fn begin(disk: &FaultyDisk, home: &Home, base: SessionState) -> Self {
        let disk: Arc<dyn Disk> = Arc::new(disk.clone());
        let writer = SessionWriter::new(disk, home.session(base.id), Redactor::default());
        Self::resume(base, writer, false)
    }

    pub fn resume(base: SessionState, writer: SessionWriter, is_worth_saving: bool) -> Self {
        Self {
            id: base.id,
            replay: Replay::new(base.clone(), Folded::Keep),
            base,
            records: Vec::new(),
            waiting: VecDeque::new(),
            writer,
            taken: 0,
            written: 0,
            synced: 0,
            is_worth_saving,
            is_failing: false,
            is_closed: false,
        }
    }

    /// Takes an operation; it is carried out when the writer comes to it.
    pub fn give(&mut self, op: StoreOp) -> Result<(), String> {
        if self.is_closed {
            return Err(format!("{op:?} after the session was closed"));
        }
        match &op {
            StoreOp::Append(record) => {
                let line = codec::encode(record);
                let read = codec::decode(&line[..line.len() - 1])
                    .map_err(|why| format!("{record:?} does not read back: {why}"))?;
                if read != **record {
                    return Err(format!("{record:?} reads back as {read:?}"));
                }
                if self.replay.apply(&read) != Applied::Done {
                    return Err("a record cannot be applied".to_owned());
                }
                self.records.push(read);
            }
            StoreOp::Snapshot(snapshot) => {
                let saved = (**snapshot).clone().into_state();
                same_state(&saved, self.replay.state(), "the snapshot", "the replayed archive")?;
            }
            StoreOp::Close => self.is_closed = true,
            StoreOp::Sync => {}
        }
        self.waiting.push_back(op);
        Ok(())
    }

    pub fn is_behind(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether a request that waits for so many records may be sent.
    pub fn has_taken(&self, records: u64) -> bool {
        self.taken as u64 >= records
    }

    /// The state that a replay of the archive gives.
    pub fn replayed(&self) -> &SessionState {
        self.replay.state()
    }

    /// What a replay of the first `count` records gives.
    pub fn replayed_until(&self, count: usize) -> SessionState {
        let mut replay = Replay::new(self.base.clone(), Folded::Keep);
        for record in &self.records[..count] {
            let _done = replay.apply(record);
        }
        replay.state().clone()
    }

    /// Text that streamed and became no message.
    pub fn unfinished_text(&self) -> usize {
        self.replay.clone().finish().1.len()
    }

    /// Carries out the next operation; returns what the host would be told.
    pub fn work(&mut self) -> Option<Stored> {
        let op = self.waiting.pop_front()?;
        let makes_durable = !matches!(op, StoreOp::Append(_));
        let result = match op {
            StoreOp::Append(record) => {
                self.is_worth_saving |= record.is_worth_saving();
                self.taken += 1;
                self.writer.append(*record)
            }
            StoreOp::Sync => self.writer.sync(),
            StoreOp::Snapshot(snapshot) => {
                self.is_worth_saving |= snapshot.is_worth_saving();
                self.writer.save(*snapshot)
            }
            StoreOp::Close => self.writer.close(),
        };
        self.count(makes_durable && result.is_ok());
        match result {
            Err(error) if !self.is_failing => {
                self.is_failing = true;
                Some(Stored::Failed(error.to_string()))
            }
            Ok(()) if self.is_failing && !self.writer.is_behind() => {
                self.is_failing = false;
                Some(Stored::Well)
            }
            Ok(()) | Err(_) => None,
        }
    }

    /// Like the host at the end: what waits is tried once more. Returns whether all is durable.
    pub fn close_again(&mut self) -> bool {
        let is_ok = self.writer.close().is_ok();
        self.count(is_ok);
        is_ok
    }

    fn count(&mut self, is_durable: bool) {
        if !self.is_worth_saving || self.writer.backlog_len() > 0 {
            return;
        }
        self.written = self.taken;
        if is_durable {
            self.synced = self.written;
        }
    }
}

/// Compares what an archive must bring back.
pub fn same_state(
    a: &SessionState,
    b: &SessionState,
    a_name: &str,
    b_name: &str,
) -> Result<(), String> {
    let parts = [
        ("id", a.id == b.id),
        ("transcript", a.transcript == b.transcript),
        ("todos", a.todos == b.todos),
        ("mode", a.mode == b.mode),
        ("model", a.model == b.model),
        ("counters", a.counters == b.counters),
        ("usage", a.usage == b.usage),
        ("last message id", a.last_message_id == b.last_message_id),
        ("preview", a.preview == b.preview),
        ("workspace", a.workspace == b.workspace),
        ("creation time", a.created_at == b.created_at),
    ];
    match parts.iter().find(|(_, is_same)| !is_same) {
        None => Ok(()),
        Some((part, _)) => Err(format!("{part} differs\n  {a_name}: {a:?}\n  {b_name}: {b:?}")),
    }
}
