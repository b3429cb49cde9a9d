//! Records → the session's state.
//!
//! Invariants: the fold of a live session is this one too; messages that the archive names twice count
//! once; ids go on growing after a rewind; streamed text whose message never came is not lost.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::event::{Compaction, Event, EventKind, Partial, PartialKind, Strategy};
use super::head;
use super::obs::{LlmCall, Obs, Outcome, Purpose, Span};
use super::record::{Meta, Record};
use super::state::SessionState;
use crate::base::id::MessageId;
use crate::base::time::Timestamp;
use crate::conversation::message::{Block, Message, Reasoning, Role};
use crate::conversation::transcript::{ModelTranscript, Summary};
use crate::conversation::usage::Usage;

/// What stands in place of a result that compaction removed from the model's view.
pub const OMITTED_RESULT: &str = "Tool result omitted after compaction";

/// Whether a record could be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Applied {
    Done,
    /// A rewind goes back to before the summary: the folded messages are needed, see [`Folded`].
    NeedsFolded,
}

/// Whether a replay keeps the messages that summaries folded. Only a rewind to before a summary needs
/// them, so a large archive is first replayed without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folded {
    Keep,
    Drop,
}

/// A replay on its way.
#[derive(Debug, Clone)]
pub struct Replay {
    state: SessionState,
    partials: BTreeMap<MessageId, Streamed>,
    folded: Folded,
    summaries: Vec<BeforeSummary>,
}

/// Text that streamed and whose message has not come yet.
#[derive(Debug, Clone, Default)]
struct Streamed {
    ts: Timestamp,
    reasoning: String,
    text: String,
}

/// What a summary took away.
#[derive(Debug, Clone)]
struct BeforeSummary {
    summary: Option<Summary>,
    messages: Vec<Arc<Message>>,
}

impl Replay {
    pub fn new(state: SessionState, folded: Folded) -> Self {
        Self { state, partials: BTreeMap::new(), folded, summaries: Vec::new() }
    }

    pub fn state(&self) -> &SessionState {
        &self.state
    }

    /// Applies the next record.
    pub fn apply(&mut self, record: &Record) -> Applied {
        match record {
            Record::Message(archived) => {
                self.partials.remove(&archived.message.id);
            }
            Record::Event(Event { ts, kind: EventKind::Partial(partial) }) => {
                self.stream(*ts, partial);
            }
            Record::Event(Event { kind: EventKind::Compaction(compaction), .. }) => {
                self.remember(compaction);
            }
            Record::Event(Event { kind: EventKind::Rewind { to_message_id }, .. }) => {
                let to = to_message_id.unwrap_or_default();
                self.partials.retain(|id, _| *id <= to);
            }
            Record::Meta(_) | Record::Obs(_) | Record::Event(_) | Record::Unknown(_) => {}
        }
        match self.state.apply(record) {
            Applied::NeedsFolded if self.unfold(record) => self.state.apply(record),
            applied => applied,
        }
    }

    /// Ends the replay. Streamed text whose message never came becomes messages marked interrupted, which
    /// are in the state and are also returned, to be appended to the archive.
    pub fn finish(mut self) -> (SessionState, Vec<Message>) {
        let folded_through = through(&self.state);
        let mut interrupted = Vec::new();
        for (id, streamed) in std::mem::take(&mut self.partials) {
            let message = streamed.into_message(id, &self.state);
            if id > folded_through && !message.content.is_empty() && self.state.add(&message) {
                interrupted.push(message);
            }
        }
        (self.state, interrupted)
    }

    fn stream(&mut self, ts: Timestamp, partial: &Partial) {
        if self.state.transcript.messages().iter().any(|message| message.id == partial.message_id) {
            return;
        }
        let streamed = self.partials.entry(partial.message_id).or_default();
        streamed.ts = ts;
        match partial.kind {
            PartialKind::Text => streamed.text.push_str(&partial.text),
            PartialKind::Reasoning => streamed.reasoning.push_str(&partial.text),
        }
    }

    fn remember(&mut self, compaction: &Compaction) {
        if self.folded == Folded::Keep && compaction.strategy == Strategy::Summary {
            self.summaries.push(BeforeSummary {
                summary: self.state.transcript.summary().cloned(),
                messages: self.state.transcript.messages().to_vec(),
            });
        }
    }

    /// Takes back the summaries that cover the rewind's target. Returns whether that was possible.
    fn unfold(&mut self, rewind: &Record) -> bool {
        let Record::Event(Event { kind: EventKind::Rewind { to_message_id: Some(to) }, .. }) =
            rewind
        else {
            return false;
        };
        while *to < through(&self.state) {
            let Some(before) = self.summaries.pop() else { return false };
            let newer = self.state.transcript.messages();
            let last = before.messages.last().map_or(MessageId(0), |message| message.id);
            let newer = newer.iter().filter(|message| message.id > last).cloned();
            let messages = before.messages.iter().cloned().chain(newer).collect();
            self.state.set_transcript(before.summary, messages);
        }
        true
    }
}

impl Streamed {
    fn into_message(self, id: MessageId, state: &SessionState) -> Message {
        let mut content = Vec::new();
        if !self.reasoning.is_empty() {
            content.push(Block::Reasoning(Reasoning { text: self.reasoning, opaque: None }));
        }
        if !self.text.is_empty() {
            content.push(Block::text(self.text));
        }
        let before = state.transcript.messages().iter().rev().find(|message| message.id < id);
        let parent_id = before
            .map(|message| message.id)
            .or_else(|| state.transcript.summary().map(|summary| summary.through_message_id));
        Message { id, parent_id, ts: self.ts, role: Role::Assistant, content, interrupted: true }
    }
}

impl SessionState {
    /// Applies one record, in a live session as in a replay.
    pub fn apply(&mut self, record: &Record) -> Applied {
        match record {
            Record::Meta(meta) => self.apply_meta(meta),
            Record::Message(archived) => {
                self.add(&archived.message);
            }
            Record::Obs(obs) => self.apply_obs(obs),
            Record::Event(event) => return self.apply_event(event),
            Record::Unknown(_) => {}
        }
        Applied::Done
    }

    fn apply_meta(&mut self, meta: &Meta) {
        self.created_at = meta.created;
        self.updated_at = self.updated_at.max(meta.created);
        if let Some(workspace) = &meta.workspace {
            self.workspace.clone_from(workspace);
        }
        if meta.forked_from.is_some() {
            self.forked_from.clone_from(&meta.forked_from);
        }
    }

    fn apply_obs(&mut self, obs: &Obs) {
        self.updated_at = self.updated_at.max(obs.ts);
        match &obs.span {
            Span::TurnStart => self.counters.turns += 1,
            Span::LlmCall(call) => self.apply_llm_call(call),
            Span::ToolCall(_) => self.counters.tool_calls += 1,
            Span::TurnEnd(_) => {}
        }
    }

    fn apply_llm_call(&mut self, call: &LlmCall) {
        if call.purpose == Purpose::Round {
            self.counters.rounds += 1;
        }
        let Some(usage) = call.usage.map(Usage::from) else { return };
        self.usage.total = self.usage.total.map(|total| total.plus(&usage));
        if call.purpose == Purpose::Round && call.outcome == Outcome::Ok {
            self.usage.last = Some(usage);
        }
    }

    fn apply_event(&mut self, event: &Event) -> Applied {
        self.updated_at = self.updated_at.max(event.ts);
        match &event.kind {
            EventKind::Compaction(compaction) => self.compact(event.ts, compaction),
            EventKind::Mode { mode } => self.mode = *mode,
            EventKind::Model { model } => self.model = Some(model.clone()),
            EventKind::Title { title } => self.title.clone_from(title),
            EventKind::Todos { todos } => self.todos.clone_from(todos),
            EventKind::Workspace { workspace } => self.workspace.clone_from(workspace),
            EventKind::Fork { from } => self.forked_from = Some(from.clone()),
            EventKind::Rewind { to_message_id } => return self.rewind(*to_message_id),
            EventKind::Interrupted { message_id, .. } => self.mark_interrupted(*message_id),
            EventKind::Partial(_) => {}
        }
        Applied::Done
    }

    /// Adds a message at its place. Returns whether it was new.
    fn add(&mut self, message: &Message) -> bool {
        let messages = self.transcript.messages();
        let at = messages.partition_point(|other| other.id < message.id);
        if message.id <= through(self) || messages.get(at).is_some_and(|m| m.id == message.id) {
            return false;
        }
        if self.preview.is_empty() && message.begins_turn() {
            self.preview = head::preview(&message.text());
        }
        self.updated_at = self.updated_at.max(message.ts);
        self.last_message_id = self.last_message_id.max(message.id);
        self.counters.messages += 1;
        if at == messages.len() {
            self.transcript.push(message.clone());
        } else {
            let mut all = messages.to_vec();
            all.insert(at, Arc::new(message.clone()));
            self.set_transcript(self.transcript.summary().cloned(), all);
        }
        true
    }

    fn compact(&mut self, ts: Timestamp, compaction: &Compaction) {
        // What the last round reported counted the text that is gone now.
        self.usage.last = None;
        let messages = self.transcript.messages().to_vec();
        match (compaction.strategy, compaction.through_message_id, &compaction.summary) {
            (Strategy::Summary, Some(last), Some(text)) => {
                self.counters.compactions += 1;
                let summary =
                    Summary { text: text.clone(), created_at: ts, through_message_id: last };
                let stays = |message: &Arc<Message>| {
                    message.id > last || compaction.kept_message_ids.contains(&message.id)
                };
                let tail = messages.into_iter().filter(stays).collect();
                self.set_transcript(Some(summary), tail);
            }
            (Strategy::Micro | Strategy::Prune, _, _) => {
                self.counters.microcompactions += u64::from(compaction.strategy == Strategy::Micro);
                let rewritten = messages.into_iter().map(|m| omit_results(m, compaction)).collect();
                self.set_transcript(self.transcript.summary().cloned(), rewritten);
            }
            // A summary without its text replaces nothing.
            (Strategy::Summary, _, _) => {}
        }
    }

    fn rewind(&mut self, to: Option<MessageId>) -> Applied {
        let folded_through = through(self);
        if to.is_some_and(|to| to < folded_through) {
            return Applied::NeedsFolded;
        }
        let (summary, last) = match to {
            Some(last) => (self.transcript.summary().cloned(), last),
            None => (None, MessageId(0)),
        };
        let before = self.transcript.messages();
        let messages: Vec<Arc<Message>> =
            before.iter().filter(|message| message.id <= last).cloned().collect();
        let removed = (before.len() - messages.len()) as u64;
        self.counters.messages =
            if to.is_some() { self.counters.messages.saturating_sub(removed) } else { 0 };
        self.usage.last = None;
        self.set_transcript(summary, messages);
        Applied::Done
    }

    fn mark_interrupted(&mut self, id: MessageId) {
        let mut messages = self.transcript.messages().to_vec();
        if let Some(message) = messages.iter_mut().find(|message| message.id == id) {
            Arc::make_mut(message).interrupted = true;
            self.set_transcript(self.transcript.summary().cloned(), messages);
        }
    }

    fn set_transcript(&mut self, summary: Option<Summary>, messages: Vec<Arc<Message>>) {
        self.transcript = ModelTranscript::default();
        let messages = messages.into_iter().map(Arc::unwrap_or_clone).collect();
        self.transcript = ModelTranscript::new(summary, messages);
    }
}

/// The last message that the summary covers; 0 without one.
fn through(state: &SessionState) -> MessageId {
    state.transcript.summary().map_or(MessageId(0), |summary| summary.through_message_id)
}

fn omit_results(mut message: Arc<Message>, compaction: &Compaction) -> Arc<Message> {
    if !compaction.message_ids.contains(&message.id) {
        return message;
    }
    for block in &mut Arc::make_mut(&mut message).content {
        if let Block::ToolResult(result) = block
            && !result.is_error
            && (compaction.call_ids.is_empty() || compaction.call_ids.contains(&result.tool_use_id))
        {
            OMITTED_RESULT.clone_into(&mut result.content);
            result.images.clear();
        }
    }
    message
}
