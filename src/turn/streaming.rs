//! A request was sent and its reply arrives.
//!
//! Invariant: at most one block is open; all that was shown of it is in a `Partial` or in a `Say`.

use crate::base::id::CallId;
use crate::base::limits::{PARTIAL_BYTES, PARTIAL_INTERVAL_MS};
use crate::base::text::cut;
use crate::base::time::Moment;
use crate::conversation::message::{Block, OpaqueState, Reasoning, Role, ToolUse};
use crate::conversation::round::{RoundError, RoundErrorKind, RoundEvent, StopReason};
use crate::conversation::tool_call::ToolOutcome;
use crate::conversation::usage::Usage;

use super::batch::Batch;
use super::effect::{Draft, Ended, PartialKind, Sight, SpanOutcome, TurnEffect};
use super::event::TurnEvent;
use super::machine::{Phase, State};
use super::scope::{RoundTimes, Scope};

/// The result of a call whose reply broke off before its end.
pub const NOT_RUN: &str =
    "Not run: the reply broke off before it was complete. Call again if needed.";

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Streaming {
    times: RoundTimes,
    open: Option<OpenBlock>,
    calls: Vec<ToolUse>,
}

#[derive(Debug, Clone, PartialEq)]
struct OpenBlock {
    kind: PartialKind,
    text: String,
    /// Bytes of `text` that are in the archive.
    saved: usize,
    /// A timer runs that will save the rest.
    is_save_due: bool,
}

impl Streaming {
    pub(super) fn new(now: Moment) -> Self {
        Self {
            times: RoundTimes { started: now, first_token: None },
            open: None,
            calls: Vec::new(),
        }
    }

    pub(super) fn on(mut self, event: TurnEvent, scope: &mut Scope<'_>) -> State {
        match event {
            TurnEvent::Round(event) => self.on_round(event, scope),
            TurnEvent::RoundDied(why) => {
                let error =
                    RoundError::new(RoundErrorKind::Nonsense, format!("internal error: {why}"));
                self.fail(error, scope)
            }
            TurnEvent::Submit(message) => {
                scope.enqueue(message);
                State::Streaming(self)
            }
            TurnEvent::PartialDue => {
                self.save_partial(scope);
                State::Streaming(self)
            }
            TurnEvent::Interrupt => self.interrupt(scope),
            TurnEvent::SendQueue
            | TurnEvent::Prepared(..)
            | TurnEvent::Tool(..)
            | TurnEvent::ToolDied(..)
            | TurnEvent::Answered(..)
            | TurnEvent::RulesChanged
            | TurnEvent::RetryDue => State::Streaming(self),
        }
    }

    fn on_round(mut self, event: RoundEvent, scope: &mut Scope<'_>) -> State {
        match event {
            RoundEvent::Accepted => {}
            RoundEvent::Text(delta) => self.append(PartialKind::Text, delta, scope),
            RoundEvent::Reasoning(delta) => self.append(PartialKind::Reasoning, delta, scope),
            RoundEvent::ReasoningDone(opaque) => self.close_reasoning(opaque, scope),
            RoundEvent::CallProgress { name, bytes } => {
                self.note_first_token(scope);
                scope.show(Sight::CallProgress { name, bytes });
            }
            RoundEvent::Call(call) => {
                let call = self.with_own_id(call, scope);
                self.note_first_token(scope);
                self.close(Cut::No, scope);
                scope.say(Role::Assistant, Block::ToolUse(call.clone()));
                scope.show(Sight::Call(call.clone()));
                self.calls.push(call);
            }
            RoundEvent::End { stop, usage } => return self.finish(stop, usage, scope),
            RoundEvent::Failed(error) => return self.fail(error, scope),
        }
        State::Streaming(self)
    }

    /// A call whose id was used before gets one of its own, else its result would belong to two calls.
    fn with_own_id(&self, mut call: ToolUse, scope: &Scope<'_>) -> ToolUse {
        let is_taken = |id: &CallId| {
            self.calls.iter().any(|earlier| earlier.id == *id) || (scope.cx.is_taken)(id)
        };
        if is_taken(&call.id) {
            // Providers allow 40 characters and more; a longer id is cut to leave room for the number.
            let stem = cut::chars(call.id.as_str(), 32).to_owned();
            let own =
                (2_u32..=9_999).map(|n| CallId(format!("{stem}-{n}"))).find(|id| !is_taken(id));
            call.id = own.unwrap_or(call.id);
        }
        call
    }

    fn append(&mut self, kind: PartialKind, delta: String, scope: &mut Scope<'_>) {
        if delta.is_empty() {
            return;
        }
        self.note_first_token(scope);
        if self.open.as_ref().is_some_and(|open| open.kind != kind) {
            self.close(Cut::No, scope);
        }
        let open = self.open.get_or_insert_with(|| OpenBlock::new(kind));
        open.text.push_str(&delta);
        let unsaved = open.text.len() - open.saved;
        let starts_timer = !open.is_save_due && unsaved < PARTIAL_BYTES;
        if starts_timer {
            open.is_save_due = true;
            scope.push(TurnEffect::PartialAt(scope.now().plus_ms(PARTIAL_INTERVAL_MS)));
        }
        scope.show(match kind {
            PartialKind::Text => Sight::Text(delta),
            PartialKind::Reasoning => Sight::Reasoning(delta),
        });
        if unsaved >= PARTIAL_BYTES {
            self.save_partial(scope);
        }
    }

    fn note_first_token(&mut self, scope: &Scope<'_>) {
        self.times.first_token.get_or_insert(scope.now());
    }

    fn save_partial(&mut self, scope: &mut Scope<'_>) {
        let Some(open) = &mut self.open else { return };
        open.is_save_due = false;
        if open.saved == open.text.len() {
            return;
        }
        let text = open.text[open.saved..].to_owned();
        open.saved = open.text.len();
        scope.push(TurnEffect::Partial { kind: open.kind, text });
    }

    /// The provider ended the reasoning, perhaps with state to send back and no readable text at all.
    fn close_reasoning(&mut self, opaque: Option<OpaqueState>, scope: &mut Scope<'_>) {
        let is_reasoning = |open: &OpenBlock| open.kind == PartialKind::Reasoning;
        let has_text = self.open.as_ref().is_some_and(is_reasoning);
        if !has_text {
            self.close(Cut::No, scope);
            if opaque.is_none() {
                return;
            }
        }
        let text = self.open.take().map(|open| open.text).unwrap_or_default();
        scope.say(Role::Assistant, Block::Reasoning(Reasoning { text, opaque }));
        scope.show(Sight::BlockEnd { interrupted: false });
    }

    fn close(&mut self, cut: Cut, scope: &mut Scope<'_>) {
        let Some(open) = self.open.take() else { return };
        let interrupted = cut == Cut::Yes;
        let block = match open.kind {
            PartialKind::Text => Block::Text { text: open.text },
            PartialKind::Reasoning => Block::Reasoning(Reasoning { text: open.text, opaque: None }),
        };
        let draft = Draft { interrupted, ..Draft::new(Role::Assistant, block) };
        scope.push(TurnEffect::Say(draft));
        scope.show(Sight::BlockEnd { interrupted });
    }

    fn finish(mut self, stop: StopReason, usage: Option<Usage>, scope: &mut Scope<'_>) -> State {
        self.close(Cut::No, scope);
        scope.observe_round(self.times, usage, SpanOutcome::Ok);
        scope.push(TurnEffect::Used(usage));
        if self.calls.is_empty() {
            scope.end_done(stop)
        } else {
            Batch::begin(self.calls, &stop, scope)
        }
    }

    fn fail(mut self, error: RoundError, scope: &mut Scope<'_>) -> State {
        self.close(Cut::Yes, scope);
        scope.observe_round(self.times, None, SpanOutcome::Error(error.to_string()));
        let now = scope.now();
        for call in &self.calls {
            scope.settle(call, ToolOutcome::interrupted(NOT_RUN), now);
        }
        scope.retry_or_end(error)
    }

    fn interrupt(mut self, scope: &mut Scope<'_>) -> State {
        scope.push(TurnEffect::StopRound);
        self.close(Cut::Yes, scope);
        scope.observe_round(self.times, None, SpanOutcome::Aborted);
        let now = scope.now();
        for call in &self.calls {
            scope.settle(call, ToolOutcome::interrupted(NOT_RUN), now);
        }
        scope.end(Ended::Interrupted)
    }

    pub(super) fn phase(&self) -> Phase<'_> {
        match self.times.first_token {
            None => Phase::Waiting { since: self.times.started },
            Some(_) => Phase::Replying { since: self.times.started },
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    No,
    Yes,
}

impl OpenBlock {
    fn new(kind: PartialKind) -> Self {
        Self { kind, text: String::new(), saved: 0, is_save_due: false }
    }
}
