//! The files of a session under crashes and full disks.
#![expect(clippy::disallowed_methods, reason = "tests make the files that the store must survive")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::disk::{Disk, OsDisk};
use super::home::Home;
use super::mem_disk::{MemDisk, Unsynced};
use super::reader::{self, OpenError};
use super::task::{self, Notice};
use super::writer::SessionWriter;
use crate::base::id::{CallId, Ids, MessageId, SessionId};
use crate::base::limits::RECORD_TEXT_BYTES_MAX;
use crate::base::secret::{Redactor, Secret};
use crate::base::text::cut;
use crate::base::time::Timestamp;
use crate::conversation::message::{Block, Message, Role, ToolResult, ToolUse};
use crate::conversation::pairing::interrupted_result;
use crate::session::codec::decode;
use crate::session::event::{EventKind, Partial, PartialKind};
use crate::session::message_record::ArchivedMessage;
use crate::session::record::{Meta, Record};
use crate::session::replay::{Folded, Replay};
use crate::session::snapshot::Snapshot;
use crate::session::state::SessionState;

pub(super) const WORKSPACE: &str = "/work/a";

pub(super) fn id(seed: u64) -> SessionId {
    Ids::seeded(seed).session(Timestamp::from_millis(1_792_661_000_878))
}

pub(super) fn message(number: u64, role: Role, block: Block) -> Message {
    let parent_id = (number > 1).then(|| MessageId(number - 1));
    let ts = Timestamp::from_millis(1_792_661_000_878 + number as i64);
    Message { id: MessageId(number), parent_id, ts, role, content: vec![block], interrupted: false }
}

pub(super) fn said(number: u64) -> Record {
    message(number, Role::User, Block::text(format!("say {number}"))).into()
}

pub(super) fn reply(number: u64) -> Record {
    message(number, Role::Assistant, Block::text(format!("reply {number}"))).into()
}

fn partial(number: u64) -> Record {
    let (message_id, kind) = (MessageId(number), PartialKind::Text);
    let partial = Partial { message_id, kind, text: format!("reply {number}") };
    Record::event(Timestamp::default(), EventKind::Partial(partial))
}

fn call(number: u64) -> Record {
    let id = CallId::new(format!("call_{number}"));
    message(
        number,
        Role::Assistant,
        Block::ToolUse(ToolUse { id, name: "t".into(), input: json!({}) }),
    )
    .into()
}

fn result(number: u64, of: u64) -> Record {
    let result = interrupted_result(&CallId::new(format!("call_{of}")));
    let block = Block::ToolResult(ToolResult { content: "done".into(), is_error: false, ..result });
    message(number, Role::User, block).into()
}

pub(super) fn meta(id: SessionId) -> Record {
    Record::Meta(Meta::new(id, WORKSPACE.into(), Timestamp::from_millis(1_792_661_000_878)))
}

/// A session that is being written: its writer and the live state.
pub(super) struct Live {
    pub(super) writer: SessionWriter,
    pub(super) replay: Replay,
    written: Vec<MessageId>,
    durable: Vec<MessageId>,
}

impl Live {
    pub(super) fn new(disk: &Arc<dyn Disk>, home: &Home, id: SessionId) -> Self {
        let writer = SessionWriter::new(disk.clone(), home.session(id), Redactor::default());
        let state = SessionState::new(id, WORKSPACE.into(), Timestamp::default());
        let replay = Replay::new(state, Folded::Keep);
        let mut live = Self { writer, replay, written: Vec::new(), durable: Vec::new() };
        live.add(meta(id));
        live
    }

    pub(super) fn add(&mut self, record: Record) {
        let _done = self.replay.apply(&record);
        if let Record::Message(archived) = &record {
            self.written.push(archived.message.id);
        }
        // The disk may have crashed: what is told as durable is what counts.
        let _kept = self.writer.append(record);
    }

    pub(super) fn sync(&mut self) {
        if self.writer.sync().is_ok() {
            self.durable.clone_from(&self.written);
        }
    }

    pub(super) fn save(&mut self) {
        self.sync();
        let _kept = self.writer.save(Snapshot::from_state(self.replay.state(), "You are".into()));
    }
}

fn scenario(disk: &Arc<dyn Disk>, home: &Home) -> Vec<MessageId> {
    let mut live = Live::new(disk, home, id(1));
    for record in [said(1), partial(2), reply(2), call(3), call(4)] {
        live.add(record);
    }
    live.sync();
    live.add(result(5, 4));
    live.add(result(6, 3));
    live.save();
    for record in [said(7), partial(8)] {
        live.add(record);
    }
    live.sync();
    live.add(reply(8));
    live.save();
    let _released = live.writer.close();
    live.durable
}

/// Crashes in every operation of going on after a crash.
fn check_crashes_while_reopening(disk: &MemDisk, home: &Home, durable: &[MessageId], case: &str) {
    for after in 1.. {
        let again = disk.reboot(Unsynced::Kept);
        again.crash_at(after, 1);
        let shared: Arc<dyn Disk> = Arc::new(again.clone());
        if let Ok(mut opened) = reader::open(&shared, home, id(1), Redactor::default()) {
            let next = opened.recovered.state.last_message_id.next();
            let _crashed = opened.writer.append(said(next.0));
            let _crashed = opened.writer.close();
        }
        if again.operations() < after {
            return;
        }
        for unsynced in [Unsynced::Kept, Unsynced::Lost] {
            let case = format!("{case}, then operation {after}, {unsynced:?}");
            check_reopened(&again.reboot(unsynced), home, durable, &case);
        }
    }
}

/// Opens what a crash left, checks it, goes on, and checks the files.
fn check_reopened(disk: &MemDisk, home: &Home, durable: &[MessageId], case: &str) {
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let opened = match reader::open(&shared, home, id(1), Redactor::default()) {
        Ok(opened) => opened,
        Err(OpenError::Missing(_) | OpenError::Recover { .. }) => {
            assert!(durable.is_empty(), "{case}: durable messages are gone");
            return;
        }
        Err(error) => panic!("{case}: {error}"),
    };
    let state = &opened.recovered.state;
    for id in durable {
        let is_there = state.transcript.messages().iter().any(|message| message.id == *id);
        assert!(is_there, "{case}: message {id} is gone");
    }
    assert!(state.transcript.missing_results().is_empty(), "{case}");
    assert!(opened.unwritten.is_none(), "{case}");
    let next = state.last_message_id.next();
    let mut writer = opened.writer;
    writer.append(said(next.0)).unwrap();
    writer.close().unwrap();
    let archive = shared.read(&home.session(id(1)).archive()).unwrap();
    assert!(archive.ends_with(b"\n"), "{case}");
    for line in archive[..archive.len() - 1].split(|byte| *byte == b'\n') {
        assert!(decode(line).is_ok(), "{case}: {}", String::from_utf8_lossy(line));
    }
    let again = reader::load(disk, home, id(1)).unwrap();
    let before = state.transcript.messages();
    assert_eq!(&again.state.transcript.messages()[..before.len()], before, "{case}");
    assert_eq!(again.state.transcript.last_id(), Some(next), "{case}");
    assert_eq!((again.warnings, again.repair), (vec![], vec![]), "{case}");
}

// S01, S14: after a crash in any operation, whatever the disk kept, the session goes on.
#[test]
fn a_crash_after_any_operation_loses_nothing_that_was_durable() {
    let home = Home::at("/home/.crystal");
    let whole = MemDisk::default();
    let shared: Arc<dyn Disk> = Arc::new(whole.clone());
    assert_eq!(scenario(&shared, &home).len(), 8);
    for after in 1..=whole.operations() {
        for cut in [0, 1, 40, usize::MAX] {
            for unsynced in [Unsynced::Kept, Unsynced::Lost] {
                let disk = MemDisk::default();
                disk.crash_at(after, cut);
                let shared: Arc<dyn Disk> = Arc::new(disk.clone());
                let durable = scenario(&shared, &home);
                let case = format!("operation {after}, cut {cut}, {unsynced:?}");
                let left = disk.reboot(unsynced);
                if cut == 40 && unsynced == Unsynced::Kept {
                    check_crashes_while_reopening(&left, &home, &durable, &case);
                }
                check_reopened(&left, &home, &durable, &case);
            }
        }
    }
}

#[test]
fn a_session_without_a_user_message_leaves_no_files() {
    let disk = MemDisk::default();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut live = Live::new(&shared, &Home::at("/h"), id(1));
    live.add(Record::event(Timestamp::default(), EventKind::Title { title: Some("t".into()) }));
    live.save();
    live.writer.close().unwrap();
    assert_eq!(disk.paths(), Vec::<PathBuf>::new());
}

// S05: while the disk is full the records wait, the old snapshot stays whole, and then all is written.
#[test]
fn records_wait_while_the_disk_is_full_and_are_written_in_order() {
    let home = Home::at("/h");
    for kind in [
        std::io::ErrorKind::StorageFull,
        std::io::ErrorKind::ReadOnlyFilesystem,
        std::io::ErrorKind::QuotaExceeded,
    ] {
        let disk = MemDisk::default();
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let mut live = Live::new(&shared, &home, id(1));
        live.add(said(1));
        live.add(reply(2));
        live.save();
        let saved = disk.read(&home.session(id(1)).snapshot()).unwrap();
        disk.fail_with(Some(kind));
        live.add(said(3));
        live.add(reply(4));
        live.save();
        assert_eq!((live.writer.is_behind(), live.writer.backlog_len()), (true, 2));
        assert_eq!(disk.read(&home.session(id(1)).snapshot()).unwrap(), saved);
        disk.fail_with(None);
        live.add(said(5));
        assert!(!live.writer.is_behind());
        live.save();
        let loaded = reader::load(&disk, &home, id(1)).unwrap();
        assert_eq!(loaded.state.transcript, live.replay.state().transcript);
        assert_eq!(loaded.warnings, vec![]);
    }
}

// S05: a line that the full disk took in part is taken away before the next is written.
#[test]
fn a_record_that_was_written_in_part_is_not_glued_to_the_next() {
    let home = Home::at("/h");
    for space in [0, 1, 50] {
        let disk = MemDisk::default();
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let mut live = Live::new(&shared, &home, id(1));
        live.add(said(1));
        disk.set_space(Some(space));
        live.add(reply(2));
        live.add(reply(3));
        assert_eq!(live.writer.backlog_len(), 2, "{space}");
        disk.set_space(None);
        live.sync();
        let loaded = reader::load(&disk, &home, id(1)).unwrap();
        assert_eq!(loaded.warnings, vec![]);
        assert_eq!(loaded.state.transcript, live.replay.state().transcript, "{space}");
    }
}

#[test]
fn an_archive_in_the_workspace_is_named_by_its_snapshot_and_ignored_by_git() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    let disk: Arc<dyn Disk> = Arc::new(OsDisk);
    let created = Timestamp::from_millis(1_792_661_000_878);
    let paths = home.session_in_workspace(id(1), &folder.path().join("work"), created);
    let mut live = Live::new(&disk, &home, id(1));
    live.writer = SessionWriter::new(disk.clone(), paths.clone(), Redactor::default());
    live.add(meta(id(1)));
    live.add(said(1));
    live.save();
    assert!(paths.archive().ends_with(".crystal/sessions/session-1792661000878.jsonl"));
    let ignore = paths.archive().with_file_name(".gitignore");
    assert_eq!(std::fs::read_to_string(ignore).unwrap(), "*\n");
    let loaded = reader::load(&*disk, &home, id(1)).unwrap();
    assert_eq!(loaded.archive_bytes, Some(live.writer.archive_bytes()));
    assert_eq!(loaded.warnings, vec![]);
}

#[test]
fn the_task_acknowledges_in_order_and_tells_once_that_the_disk_fails() {
    let disk = MemDisk::default();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let writer = SessionWriter::new(shared, Home::at("/h").session(id(1)), Redactor::default());
    let told = Arc::new(Mutex::new(Vec::new()));
    let (log, switch) = (told.clone(), disk.clone());
    disk.fail_with(Some(std::io::ErrorKind::StorageFull));
    let (mut handle, task) = task::channel(writer, move |stored| {
        if stored.seq == 3 {
            switch.fail_with(None);
        }
        let notice = stored.notice.map(|notice| match notice {
            Notice::Failing { .. } => "failing",
            Notice::Mended => "mended",
        });
        log.lock().unwrap().push((stored.seq, stored.result.is_ok(), notice));
    });
    handle.append(meta(id(1)));
    handle.append(said(1));
    handle.append(reply(2));
    handle.sync();
    handle.blob(b"picture".to_vec(), "image/png");
    handle.close();
    task.run();
    assert_eq!(
        *told.lock().unwrap(),
        [
            (1, true, None),
            (2, false, Some("failing")),
            (3, false, None),
            (4, true, Some("mended")),
            (5, true, None),
            (6, true, None)
        ]
    );
    assert_eq!(reader::load(&disk, &Home::at("/h"), id(1)).unwrap().state.last_message_id.0, 2);
}

#[test]
fn what_a_full_disk_refuses_at_the_close_is_written_at_the_end() {
    let disk = MemDisk::default();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let writer = SessionWriter::new(shared, Home::at("/h").session(id(1)), Redactor::default());
    let switch = disk.clone();
    disk.fail_with(Some(std::io::ErrorKind::StorageFull));
    let (mut handle, task) = task::channel(writer, move |stored| {
        if stored.seq == 3 {
            switch.fail_with(None);
        }
    });
    handle.append(meta(id(1)));
    handle.append(said(1));
    handle.close();
    drop(handle);
    task.run();
    assert_eq!(reader::load(&disk, &Home::at("/h"), id(1)).unwrap().state.last_message_id.0, 1);
}

#[test]
fn a_result_too_long_for_a_record_is_a_blob() {
    let disk = MemDisk::default();
    let home = Home::at("/h");
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut live = Live::new(&shared, &home, id(1));
    live.add(said(1));
    live.add(call(2));
    let whole = "0123456789\n".repeat(RECORD_TEXT_BYTES_MAX / 10);
    let cut = cut::middle(&whole, 1_000, 100).unwrap();
    let call = CallId::new("call_2");
    let content = cut.apply(&whole).unwrap();
    let result = ToolResult { content, is_error: false, ..interrupted_result(&call) };
    let message = message(3, Role::User, Block::ToolResult(result));
    let archived = ArchivedMessage::with_whole(message, call, whole.clone(), cut);
    live.add(Record::Message(archived));
    live.sync();
    assert!(live.writer.archive_bytes() < 4_000);
    let blobs = disk.list(&home.blobs()).unwrap();
    assert_eq!(disk.read(&home.blobs().join(&blobs[0])).unwrap(), whole.as_bytes());
    let loaded = reader::load(&disk, &home, id(1)).unwrap();
    assert_eq!(loaded.state.transcript, live.replay.state().transcript);
}

// X15: a key is in no file.
#[test]
fn secrets_are_removed_from_archive_and_snapshot() {
    let disk = MemDisk::default();
    let home = Home::at("/h");
    let redactor = Redactor::new([Secret::new("sk-\"CANARY\\")]);
    let mut writer = SessionWriter::new(Arc::new(disk.clone()), home.session(id(1)), redactor);
    let block = Block::text("my key is sk-\"CANARY\\ !");
    let record = Record::from(message(1, Role::User, block));
    let mut state = SessionState::new(id(1), WORKSPACE.into(), Timestamp::default());
    let _done = state.apply(&record);
    writer.append(record).unwrap();
    writer.save(Snapshot::from_state(&state, String::new())).unwrap();
    for path in disk.paths() {
        let text = String::from_utf8(disk.read(&path).unwrap()).unwrap();
        assert!(!text.contains("CANARY"), "{}: {text}", path.display());
    }
}
