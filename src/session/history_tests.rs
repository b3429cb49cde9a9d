//! Random histories: replay, recovery and damage against a model that is kept step by step.

use proptest::prelude::*;
use serde_json::json;

use super::codec::{Warning, decode, encode, newlines};
use super::event::{Compaction, EventKind, Partial, PartialKind, Strategy as Condense};
use super::message_record::{ArchivedMessage, OriginalText};
use super::obs::{LlmCall, ObsUsage, Span};
use super::record::{Meta, Record};
use super::recovery::{RecoverError, Recovered, recover};
use super::replay::{Folded, OMITTED_RESULT, Replay};
use super::snapshot::{ArchivePosition, Snapshot, SnapshotError};
use super::state::SessionState;
use crate::base::id::{CallId, Ids, MessageId, SessionId};
use crate::base::secret::{Redactor, Secret};
use crate::base::text::cut;
use crate::base::time::Timestamp;
use crate::conversation::message::{Block, Message, Role, ToolResult, ToolUse};
use crate::conversation::pairing;
use crate::conversation::transcript::{ModelTranscript, Summary};
use crate::conversation::usage::Usage;

fn id() -> SessionId {
    Ids::seeded(1).session(Timestamp::from_millis(1_792_661_000_878))
}

fn at(number: u64) -> Timestamp {
    Timestamp::from_millis(1_792_661_000_878 + number as i64)
}

/// A history on its way: its records, and what the model should see.
struct History {
    records: Vec<Record>,
    summary: Option<Summary>,
    messages: Vec<Message>,
    last: u64,
}

impl History {
    fn new() -> Self {
        let meta = Meta::new(id(), "/work/a".into(), at(0));
        Self { records: vec![Record::Meta(meta)], summary: None, messages: Vec::new(), last: 0 }
    }

    /// Builds the history of words: `u` user, `a` text, `p` streamed text and its message, `s` streamed
    /// text alone, `c` call, `r` its result, `R` its error, `m` micro, `f` fold all but two, `w` back by two.
    fn of(words: &str) -> Self {
        let mut history = Self::new();
        for word in words.chars() {
            history.step(word);
        }
        history
    }

    fn step(&mut self, word: char) {
        match word {
            'u' => self.say(Role::User, Block::text("do\nit 漢 \u{1f600}")),
            'a' => self.say(Role::Assistant, Block::text("a reply")),
            'p' => {
                self.stream("a re");
                self.say(Role::Assistant, Block::text("a reply"));
            }
            's' => self.stream("half a re"),
            'c' => {
                let call = CallId::new(format!("call_{}", self.last + 1));
                let input = json!({"path": "src/a.rs"});
                self.say(
                    Role::Assistant,
                    Block::ToolUse(ToolUse { id: call, name: "read".into(), input }),
                );
            }
            'r' | 'R' => self.answer(word == 'R'),
            'm' => self.micro(),
            'f' => self.fold(),
            'w' => self.rewind(),
            _ => {
                let usage = Some(ObsUsage { prompt: 10, completion: 2, ..ObsUsage::default() });
                let span = Span::LlmCall(LlmCall { usage, ..LlmCall::default() });
                self.records.push(Record::obs("1", at(self.last), span));
            }
        }
    }

    fn say(&mut self, role: Role, block: Block) {
        self.last += 1;
        let message = Message {
            id: MessageId(self.last),
            parent_id: self.messages.last().map(|message| message.id),
            ts: at(self.last),
            role,
            content: vec![block],
            interrupted: false,
        };
        self.records.push(message.clone().into());
        self.messages.push(message);
    }

    fn stream(&mut self, text: &str) {
        let message_id = MessageId(self.last + 1);
        let kind = PartialKind::Text;
        let partial = Partial { message_id, kind, text: text.to_owned() };
        self.records.push(Record::event(at(self.last), EventKind::Partial(partial)));
    }

    fn answer(&mut self, is_error: bool) {
        let open = ModelTranscript::new(None, self.messages.clone()).missing_results();
        let Some(call) = open.first() else { return };
        let result = pairing::interrupted_result(&call.id);
        let result = ToolResult { content: "fn main() {}".into(), is_error, ..result };
        self.say(Role::User, Block::ToolResult(result));
    }

    fn compaction(
        &mut self,
        strategy: Condense,
        message_ids: Vec<MessageId>,
        fold: Option<MessageId>,
    ) {
        let compaction = Compaction {
            strategy,
            message_ids,
            call_ids: Vec::new(),
            summary: fold.map(|_| "What was done".to_owned()),
            through_message_id: fold,
            kept_message_ids: Vec::new(),
            tokens_before: 100,
            tokens_after: 10,
        };
        self.records.push(Record::event(at(self.last), EventKind::Compaction(compaction)));
    }

    fn micro(&mut self) {
        let mut ids = Vec::new();
        for message in &mut self.messages {
            for block in &mut message.content {
                if let Block::ToolResult(result) = block
                    && !result.is_error
                {
                    result.content = OMITTED_RESULT.into();
                    ids.push(message.id);
                }
            }
        }
        self.compaction(Condense::Micro, ids, None);
    }

    fn fold(&mut self) {
        let Some(index) = self.messages.len().checked_sub(3) else { return };
        let through_message_id = self.messages[index].id;
        let ids = self.messages.drain(..=index).map(|message| message.id).collect();
        let text = "What was done".to_owned();
        self.summary = Some(Summary { text, created_at: at(self.last), through_message_id });
        self.compaction(Condense::Summary, ids, Some(through_message_id));
    }

    fn rewind(&mut self) {
        let Some(index) = self.messages.len().checked_sub(3) else { return };
        self.messages.truncate(index + 1);
        let to_message_id = self.messages.last().map(|message| message.id);
        self.records.push(Record::event(at(self.last), EventKind::Rewind { to_message_id }));
    }

    fn transcript(&self) -> ModelTranscript {
        ModelTranscript::new(self.summary.clone(), self.messages.clone())
    }

    fn archive(&self) -> Vec<u8> {
        self.records.iter().flat_map(encode).collect()
    }

    fn state(&self) -> SessionState {
        let state = SessionState::new(id(), "/".into(), at(0));
        let mut replay = Replay::new(state, Folded::Keep);
        for record in &self.records {
            let _done = replay.apply(record);
        }
        replay.state().clone()
    }

    fn snapshot(&self) -> Vec<u8> {
        let mut snapshot = Snapshot::from_state(&self.state(), "You are".into());
        snapshot.archive.offset = self.archive().len() as u64;
        snapshot.to_bytes()
    }
}

fn opened(snapshot: Option<&[u8]>, archive: Option<&[u8]>) -> Recovered {
    recover(id(), snapshot, archive).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn replaying_an_archive_gives_the_transcript_that_was_built(words in "u[uapcrRmfwo]{0,40}") {
        let history = History::of(&words);
        for record in &history.records {
            let line = encode(record);
            prop_assert_eq!(newlines(&line), 1);
            prop_assert_eq!(&decode(&line[..line.len() - 1]).unwrap(), record);
        }
        prop_assert_eq!(history.state().transcript, history.transcript());
    }

    #[test]
    fn a_snapshot_and_the_rest_give_what_the_whole_archive_gives(
        early in "u[uapcrRmfwo]{0,20}", late in "[uapcrRmfwo]{0,20}",
    ) {
        let mut history = History::of(&early);
        let snapshot = history.snapshot();
        for word in late.chars() {
            history.step(word);
        }
        let archive = history.archive();
        let both = opened(Some(&snapshot), Some(&archive));
        let alone = opened(None, Some(&archive));
        prop_assert_eq!(&both.state, &alone.state);
        prop_assert_eq!(both.repair, alone.repair);
        prop_assert_eq!(both.state.transcript.missing_results(), vec![]);
        let now = history.snapshot();
        prop_assert_eq!(&opened(Some(&now), Some(&archive)).state, &alone.state);
    }

    #[test]
    fn a_snapshot_is_the_same_bytes_for_the_same_state(words in "u[uapcrRmfwo]{0,30}") {
        let bytes = History::of(&words).snapshot();
        let read = Snapshot::from_bytes(&bytes).unwrap();
        prop_assert_eq!(read.to_bytes(), bytes.clone());
        let again = Snapshot::from_state(&read.clone().into_state(), "You are".into());
        let archive = ArchivePosition { offset: read.archive.offset, ..again.archive.clone() };
        prop_assert_eq!(Snapshot { archive, ..again }.to_bytes(), bytes);
    }
}

// S01: whatever byte the archive was cut at, every whole record is there.
#[test]
fn an_archive_cut_at_any_byte_loses_at_most_its_torn_line() {
    let history = History::of("upcrmfs");
    let archive = history.archive();
    let snapshot = History::of("upcr").snapshot();
    for end in 0..=archive.len() {
        let kept = &archive[..end];
        let whole_lines = newlines(kept) as usize;
        let is_closed = kept.ends_with(b"\n");
        let is_complete = archive.get(end) == Some(&b'\n');
        let mut replayed =
            History { records: history.records[..whole_lines].to_vec(), ..History::new() };
        if is_complete {
            replayed.records.push(history.records[whole_lines].clone());
        }
        match recover(id(), None, Some(kept)) {
            Ok(recovered) => {
                assert_eq!(recovered.torn.is_some(), !is_closed, "{end}");
                assert_eq!(
                    recovered.torn.is_some_and(|torn| torn.is_complete),
                    is_complete,
                    "{end}"
                );
                let before = replayed.state().transcript;
                let found = &recovered.state.transcript;
                assert_eq!(found.summary(), before.summary(), "{end}");
                assert!(before.messages().iter().all(|m| found.messages().contains(m)), "{end}");
                assert!(found.missing_results().is_empty(), "{end}");
            }
            Err(error) => {
                assert_eq!(error, RecoverError::Empty);
                assert!(replayed.state().transcript.messages().is_empty(), "{end}");
            }
        }
        // A shorter archive than the snapshot knows leaves the snapshot alone in force.
        assert!(!opened(Some(&snapshot), Some(kept)).state.transcript.messages().is_empty());
    }
}

#[test]
fn a_snapshot_cut_at_any_byte_is_rebuilt_from_the_archive() {
    let history = History::of("upcrmfu");
    let (archive, snapshot) = (history.archive(), history.snapshot());
    for end in 0..snapshot.len() - 1 {
        let recovered = opened(Some(&snapshot[..end]), Some(&archive));
        assert_eq!(recovered.state.transcript, history.transcript(), "{end}");
        assert!(matches!(recovered.warnings[..], [Warning::DamagedSnapshot { .. }]), "{end}");
    }
    assert_eq!(opened(Some(&snapshot), None).state.transcript, history.transcript());
    assert!(matches!(recover(id(), Some(b"{"), None), Err(RecoverError::Snapshot(_))));
}

// S02: a bad line costs itself; the records after it are loaded and the warning names its line.
#[test]
fn a_damaged_line_costs_only_itself() {
    let history = History::of("uauauauaua");
    let lines: Vec<Vec<u8>> = history.records.iter().map(encode).collect();
    let cut = &lines[5][..lines[5].len() / 2];
    for bad in
        [&[0_u8; 512][..], cut, b"", b"[]", b"{}", b"\xff", b"{\"kind\":\"message\",\"id\":5}"]
    {
        let mut damaged = lines.clone();
        damaged[5] = [bad, b"\n"].concat();
        let recovered = opened(None, Some(&damaged.concat()));
        let mut wanted = history.messages.clone();
        wanted.remove(4);
        assert_eq!(recovered.state.transcript, ModelTranscript::new(None, wanted));
        assert!(matches!(recovered.warnings[..], [Warning::DamagedLine { line: 6, .. }]));
        // The same number past a snapshot, whose part of the archive is not read.
        let early = History::of("uau").snapshot();
        let recovered = opened(Some(&early), Some(&damaged.concat()));
        assert!(matches!(recovered.warnings[..], [Warning::DamagedLine { line: 6, .. }]));
    }
}

// S14: each call of a killed session has a result, and no call is dropped.
#[test]
fn calls_without_results_are_answered_as_interrupted() {
    let history = History::of("ucccr");
    let recovered = opened(None, Some(&history.archive()));
    let results: Vec<String> = recovered
        .repair
        .iter()
        .flat_map(|record| record.message.tool_results())
        .map(|result| format!("{} {} {}", result.tool_use_id, result.is_error, result.content))
        .collect();
    assert_eq!(
        results,
        [
            "call_3 true Interrupted before it finished",
            "call_4 true Interrupted before it finished"
        ]
    );
    assert_eq!(recovered.repair[0].message.id, MessageId(6));
    assert!(recovered.state.transcript.missing_results().is_empty());
}

#[test]
fn text_that_streamed_before_a_kill_is_kept_and_marked() {
    let history = History::of("us");
    let recovered = opened(None, Some(&history.archive()));
    let last = recovered.state.transcript.messages().last().unwrap();
    assert_eq!(
        (last.text().as_str(), last.interrupted, last.id),
        ("half a re", true, MessageId(2))
    );
    assert_eq!(recovered.repair.len(), 1);
    // Once it is appended, the message supersedes the streamed text.
    let mut archive = history.archive();
    archive.extend(encode(&Record::Message(recovered.repair[0].clone())));
    assert_eq!(opened(None, Some(&archive)).repair, vec![]);
}

#[test]
fn a_rewind_to_before_a_summary_brings_the_folded_messages_back() {
    let mut history = History::of("uauauafu");
    let snapshot = history.snapshot();
    let to_message_id = Some(MessageId(2));
    history.records.push(Record::event(at(9), EventKind::Rewind { to_message_id }));
    let archive = history.archive();
    let ids = |recovered: &Recovered| -> Vec<u64> {
        recovered.state.transcript.messages().iter().map(|message| message.id.0).collect()
    };
    for snapshot in [None, Some(&snapshot[..])] {
        let recovered = opened(snapshot, Some(&archive));
        assert_eq!(ids(&recovered), [1, 2]);
        assert_eq!(recovered.state.counters.messages, 2);
        assert_eq!(recovered.state.last_message_id, MessageId(7));
    }
}

#[test]
fn a_compaction_replaces_only_named_calls_and_keeps_pinned_messages() {
    let mut history = History::of("uccrruau");
    let mut compaction = Compaction {
        strategy: Condense::Micro,
        message_ids: vec![MessageId(4), MessageId(5)],
        call_ids: vec![CallId::new("call_3")],
        summary: None,
        through_message_id: None,
        kept_message_ids: Vec::new(),
        tokens_before: 0,
        tokens_after: 0,
    };
    let event =
        |compaction: &Compaction| Record::event(at(9), EventKind::Compaction(compaction.clone()));
    history.records.push(event(&compaction));
    let state = history.state();
    let messages = state.transcript.messages();
    let results: Vec<&str> = messages
        .iter()
        .flat_map(|message| message.tool_results())
        .map(|result| result.content.as_str())
        .collect();
    assert_eq!(results, ["fn main() {}", OMITTED_RESULT]);
    assert_eq!((state.counters.microcompactions, state.usage.last), (1, None));

    compaction.strategy = Condense::Summary;
    compaction.summary = Some("What was done".into());
    compaction.through_message_id = Some(MessageId(7));
    compaction.kept_message_ids = vec![MessageId(1)];
    history.records.push(event(&compaction));
    let messages = history.state().transcript;
    let ids: Vec<u64> = messages.messages().iter().map(|message| message.id.0).collect();
    assert_eq!(ids, [1, 8]);
    assert_eq!(opened(None, Some(&history.archive())).state.transcript, messages);
}

// S13: a newer snapshot is recognised and refused, and its head is still read.
#[test]
fn a_newer_snapshot_is_listed_and_not_opened() {
    let text = format!(
        r#"{{"version":99,"id":"{}","preview":"hi","updatedAt":"2026-10-22T09:23:20.878Z","mode":"dream","messageCount":3,"transcript":{{}}}}"#,
        id()
    );
    let head = super::head::head(text.as_bytes()).unwrap();
    assert_eq!((head.version, head.preview.as_str()), (99, "hi"));
    let error = recover(id(), Some(text.as_bytes()), Some(&History::of("u").archive()));
    assert_eq!(error, Err(SnapshotError::Newer { version: 99 }.into()));
}

// S13: older files open with defaults; an unknown total stays unknown; unknown fields survive.
#[test]
fn an_older_snapshot_opens_with_defaults_and_keeps_what_it_does_not_know() {
    let text = format!(r#"{{"version":1,"id":"{}","future":{{"a":1}},"transcript":[]}}"#, id());
    let snapshot = Snapshot::from_bytes(text.as_bytes()).unwrap();
    assert_eq!(snapshot.total_usage, None);
    let saved = Snapshot::from_state(&snapshot.into_state(), String::new()).to_bytes();
    let saved = String::from_utf8(saved).unwrap();
    assert!(saved.contains(r#""totalUsage":null"#), "{saved}");
    assert!(saved.contains(r#""future":{"a":1}"#), "{saved}");
}

#[test]
fn the_head_is_read_from_the_beginning_wherever_it_is_cut() {
    let bytes = History::of("uauaua").snapshot();
    let whole = super::head::head(&bytes).unwrap();
    let end_of_head = String::from_utf8_lossy(&bytes).find("\"lastUsage\"").unwrap();
    for end in 0..bytes.len() {
        match super::head::head(&bytes[..end]) {
            Some(head) if end >= end_of_head => assert_eq!(head, whole),
            head => assert!(head.is_none_or(|head| head.id == whole.id), "{end}"),
        }
    }
}

#[test]
fn the_fields_of_a_snapshot_are_in_the_order_of_the_specification() {
    let bytes = History::of("uacrof").snapshot();
    let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys.join(" "),
        "version id title preview workspace createdAt updatedAt messageCount mode model forkedFrom \
         lastUsage totalUsage counters todos archive systemPrompt summary transcript"
    );
}

// S13: what this version does not know is skipped, never an error. Crab's files are read.
#[test]
fn crabs_files_of_both_formats_are_read() {
    let messages = r#"{"kind":"message","id":1,"parent_id":null,"message":{"role":"user","content":[{"type":"text","text":"add a flag"}]}}
{"kind":"hologram","id":2}
{"kind":"event","event":"hologram"}
{"kind":"message","id":3,"parent_id":1,"future":1,"message":{"role":"assistant","content":[{"type":"text","text":"Let me read."},{"type":"hologram"},{"type":"tool_use","id":"call_00_a1b2","name":"read","input":{"path":"src/metrics.rs"}}]}}
{"kind":"message","id":4,"parent_id":3,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_00_a1b2","content":"..."}]}}
{"kind":"obs","run_id":1,"ts":"2026-10-22T09:23:20.878Z","obs":"llm_call","provider":"p","model":"m","duration_ms":5,"usage":{"prompt":10,"completion":2,"cache_read":3,"cache_write":0},"outcome":"Ok"}
"#;
    let meta = "{\"kind\":\"meta\",\"format_version\":2,\"created\":\"1792661000878ms\"}\n";
    for (archive, total) in [
        (messages.to_owned(), None),
        (
            format!("{meta}{messages}"),
            Some(Usage { input: 7, output: 2, cache_read: 3, ..Usage::default() }),
        ),
    ] {
        let recovered = opened(None, Some(archive.as_bytes()));
        assert_eq!(recovered.warnings, vec![]);
        assert_eq!(recovered.state.transcript.messages().len(), 3);
        assert_eq!(recovered.state.usage.total, total);
        assert_eq!(recovered.state.preview, "add a flag");
        assert_eq!(recovered.repair, vec![]);
    }
}

#[test]
fn a_cut_result_keeps_its_original_text_in_the_record() {
    let whole: String = (0..9_000).map(|n| format!("line {n}\n")).collect();
    let cut = cut::middle(&whole, 1_000, 20).unwrap();
    let call = CallId::new("call_1");
    let view = cut.apply(&whole).unwrap();
    let result =
        ToolResult { content: view, is_error: false, ..pairing::interrupted_result(&call) };
    let mut history = History::of("uc");
    history.say(Role::User, Block::ToolResult(result));
    let message = history.messages.pop().unwrap();
    let archived = ArchivedMessage::with_whole(message, call.clone(), whole.clone(), cut);
    let line = encode(&Record::Message(archived.clone()));
    assert!(String::from_utf8_lossy(&line).contains("\"cut\":{\"head\":"));
    let Record::Message(read) = decode(line.trim_ascii_end()).unwrap() else { panic!("a message") };
    assert_eq!(read, archived);

    // X15: secrets are removed from the whole text, and the cut still fits it.
    let secret = Secret::new("line 1\nline 2");
    let redacted = Record::Message(archived).redacted(&Redactor::new([secret]));
    let Record::Message(redacted) = redacted else { panic!("a message") };
    let Some(OriginalText::Whole { text, cut }) = redacted.original(&call) else { panic!("whole") };
    assert!(text.starts_with("line 0\n[redacted]\nline 3"), "{}", &text[..40]);
    let shown = &redacted.message.tool_results().next().unwrap().content;
    assert_eq!(Some(shown), cut.apply(text).as_ref());
}
