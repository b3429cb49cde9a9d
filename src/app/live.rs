//! One live session: what is saved of it, its turn, and what the screen shows of it.
//!
//! Invariant: `state` changes only through [`LiveSession::record`], by the very function that replays an
//! archive; so a live session and a resumed one cannot disagree.

use std::collections::HashMap;
use std::sync::Arc;

use crate::base::id::SessionId;
use crate::base::time::At;
use crate::conversation::estimate;
use crate::conversation::gear::Gear;
use crate::conversation::message::Role;
use crate::conversation::model::{ModelChoice, ModelSpec};
use crate::conversation::tool_call::ToolSpec;
use crate::conversation::usage::context_percent;
use crate::session::event::EventKind;
use crate::session::record::{Meta, Record};
use crate::session::replay::Applied;
use crate::session::snapshot::Snapshot;
use crate::session::state::SessionState;
use crate::turn::{Ended, Turn};

use super::cells::cell::CellContent;
use super::composer::Composer;
use super::effect::{Effect, StoreOp};
use super::feed::Feed;
use super::scroll::Scroll;

#[derive(Debug)]
pub struct LiveSession {
    pub state: SessionState,
    /// The system prompt and the tools that the next request carries.
    pub frame: RequestFrame,
    pub turn: Turn,
    /// How the last turn ended.
    pub last_ended: Option<Ended>,
    pub feed: Feed,
    pub scroll: Scroll,
    pub composer: Composer,
    pub storage: Storage,
    /// The model that a session without one of its own speaks to.
    default_model: ModelChoice,
    /// Names the spans of the running turn.
    run_id: String,
}

/// What every request of a session begins with.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestFrame {
    pub system: Arc<str>,
    pub tools: Arc<[ToolSpec]>,
    /// Estimated tokens of both.
    tokens: u64,
}

impl RequestFrame {
    pub fn new(system: String, tools: Vec<ToolSpec>) -> Self {
        let tokens = estimate::text_tokens(&system) + estimate::tools_tokens(&tools);
        Self { system: system.into(), tools: tools.into(), tokens }
    }
}

/// How far the files are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Storage {
    /// Records given out so far, in this process.
    pub given: u64,
    /// Records given when the snapshot was last saved.
    pub saved: Option<u64>,
    /// The archive has its first line.
    pub is_begun: bool,
    /// Why nothing can be written at the moment.
    pub trouble: Option<String>,
}

/// How full the window is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextFill {
    pub used: u64,
    pub percent: u8,
    pub is_estimate: bool,
}

impl LiveSession {
    pub fn new(
        state: SessionState,
        model: ModelChoice,
        frame: RequestFrame,
        composer: Composer,
    ) -> Self {
        Self {
            state,
            frame,
            turn: Turn::default(),
            last_ended: None,
            feed: Feed::default(),
            scroll: Scroll::default(),
            composer,
            storage: Storage::default(),
            default_model: model,
            run_id: String::new(),
        }
    }

    pub fn id(&self) -> SessionId {
        self.state.id
    }

    /// Puts the conversation so far on the screen. A session that has one has an archive with its first line.
    pub fn show_history(&mut self) {
        let transcript = &self.state.transcript;
        if transcript.messages().is_empty() && transcript.summary().is_none() {
            return;
        }
        self.storage.is_begun = true;
        if let Some(summary) = transcript.summary() {
            let text = summary.text.clone();
            self.feed.push(CellContent::Summary { text });
        }
        let originals = HashMap::new();
        for message in self.state.transcript.messages().to_vec() {
            self.feed.message(&message, &originals);
        }
    }

    /// Takes a record into the state and returns the effects that write it. The first one is preceded by
    /// the archive's first lines.
    pub fn record(&mut self, record: Record, at: At) -> Vec<Effect> {
        let mut records = Vec::with_capacity(4);
        if !self.storage.is_begun {
            self.storage.is_begun = true;
            records.extend(self.first_lines(at));
        }
        records.push(record);
        for record in &records {
            // Only a rewind to before a summary can need more than is here, and it asks first.
            let applied = self.state.apply(record);
            debug_assert_eq!(applied, Applied::Done);
        }
        self.storage.given += records.len() as u64;
        let id = self.id();
        let append = |record| Effect::Store(id, StoreOp::Append(Box::new(record)));
        records.into_iter().map(append).collect()
    }

    /// What the archive of a new session begins with: it stands alone, also without a snapshot.
    fn first_lines(&self, at: At) -> [Record; 3] {
        let state = &self.state;
        let meta = Meta::new(state.id, state.workspace.clone(), state.created_at);
        let meta = Meta { forked_from: state.forked_from.clone(), ..meta };
        let model = self.model().clone();
        [
            Record::Meta(meta),
            Record::event(at.wall, EventKind::Model { model }),
            Record::event(at.wall, EventKind::Mode { mode: state.mode }),
        ]
    }

    /// The effects that save the session, if there is something worth saving that is not saved yet.
    pub fn save(&mut self) -> Vec<Effect> {
        // Nothing changes without a record.
        let is_saved = self.storage.saved == Some(self.storage.given);
        if !self.state.transcript.is_worth_saving() || is_saved && self.storage.trouble.is_none() {
            return Vec::new();
        }
        self.storage.saved = Some(self.storage.given);
        let snapshot = Snapshot::from_state(&self.state, self.frame.system.to_string());
        vec![Effect::Store(self.id(), StoreOp::Snapshot(Box::new(snapshot)))]
    }

    /// Whether anything of it is or will be on disk.
    pub fn is_worth_saving(&self) -> bool {
        self.state.transcript.is_worth_saving()
    }

    pub fn model(&self) -> &ModelChoice {
        self.state.model.as_ref().unwrap_or(&self.default_model)
    }
    pub fn model_label(&self) -> String {
        self.model().label()
    }
    pub fn gear(&self) -> Gear {
        self.model().thinking_effort
    }

    /// The model of a session that has not begun changes without a trace.
    pub fn set_default_model(&mut self, model: ModelChoice) {
        self.default_model = model;
    }

    pub fn run_id(&self) -> &str {
        &self.run_id
    }
    /// A turn begins: its spans are named after its user message.
    pub fn begin_run(&mut self) {
        self.run_id = format!("run-{}", self.state.last_message_id);
    }

    /// Whether tool results came after what the provider counted (spec, compaction, *CTX*).
    fn usage_is_stale(&self) -> bool {
        let messages = self.state.transcript.messages().iter().rev();
        let mut newest = messages.take_while(|message| message.role == Role::User);
        newest.any(|message| message.tool_results().next().is_some())
    }

    /// Estimated tokens of the next request.
    pub fn estimate(&self) -> u64 {
        self.frame.tokens + self.state.transcript.tokens()
    }

    /// The last round's usage, or the estimate once the transcript has grown past it; never a sum of rounds.
    pub fn context(&self, spec: &ModelSpec) -> ContextFill {
        let reported = self.state.usage.last.filter(|usage| {
            !self.usage_is_stale() && !usage.estimated && usage.context_tokens() > 0
        });
        let used = reported.map_or_else(|| self.estimate(), |usage| usage.context_tokens());
        ContextFill {
            used,
            percent: context_percent(used, spec.limits.context_window),
            is_estimate: reported.is_none(),
        }
    }
}
