//! What every state needs while it handles an event: the context, the run's counters, the queue, and the
//! steps that several states share.

use crate::base::limits::{RESULT_BYTES_MAX, RESULT_LINES_MAX};
use crate::base::text::cut;
use crate::base::time::Moment;
use crate::conversation::message::{Block, Role, ToolResult, ToolUse};
use crate::conversation::round::{RoundError, StopReason};
use crate::conversation::tool_call::{ToolOutcome, ToolStatus};
use crate::conversation::usage::Usage;

use super::backoff;
use super::effect::{Draft, Ended, Sight, Span, SpanOutcome, TurnEffect};
use super::event::Context;
use super::machine::State;
use super::queue::Queue;
use super::retry_wait::RetryWait;
use super::streaming::Streaming;

/// Counters of the running turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Run {
    pub(super) started: Moment,
    rounds: u32,
    llm_calls: u32,
    tool_calls: u32,
    /// Requests of the current round that failed in a row.
    failed_attempts: u32,
}

/// One round's request, as the trace counts it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RoundTimes {
    pub(super) started: Moment,
    pub(super) first_token: Option<Moment>,
}

pub(super) struct Scope<'a> {
    pub(super) cx: &'a Context<'a>,
    pub(super) run: &'a mut Run,
    queue: &'a mut Queue,
    out: Vec<TurnEffect>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(cx: &'a Context<'a>, run: &'a mut Run, queue: &'a mut Queue) -> Self {
        Self { cx, run, queue, out: Vec::new() }
    }

    pub(super) fn into_effects(self) -> Vec<TurnEffect> {
        self.out
    }

    pub(super) fn push(&mut self, effect: TurnEffect) {
        self.out.push(effect);
    }

    pub(super) fn show(&mut self, sight: Sight) {
        self.push(TurnEffect::Show(sight));
    }

    pub(super) fn now(&self) -> Moment {
        self.cx.at.moment
    }

    pub(super) fn take_queue(&mut self) -> Vec<Vec<Block>> {
        self.queue.take_all()
    }

    /// Keeps a message for the next round boundary. The caller checks [`Queue::is_full`] first.
    pub(super) fn enqueue(&mut self, message: Vec<Block>) {
        let kept = self.queue.push(message);
        debug_assert!(kept.is_ok(), "the queue was full");
    }

    pub(super) fn begin_turn(&mut self, messages: Vec<Vec<Block>>) -> State {
        *self.run = Run { started: self.now(), ..Run::default() };
        // Said before it is observed: the run is named after its user message.
        self.say_all(messages);
        self.push(TurnEffect::Observe(Span::TurnStart));
        self.start_round()
    }

    /// A round boundary: waiting messages join, and the next round starts unless there were too many.
    pub(super) fn next_round(&mut self) -> State {
        if self.run.rounds >= self.cx.rounds_max {
            return self.end(Ended::RoundLimit(self.run.rounds));
        }
        let messages = self.take_queue();
        self.say_all(messages);
        self.start_round()
    }

    fn start_round(&mut self) -> State {
        self.run.rounds += 1;
        self.run.failed_attempts = 0;
        self.send_request()
    }

    pub(super) fn send_request(&mut self) -> State {
        self.push(TurnEffect::StartRound);
        State::Streaming(Streaming::new(self.now()))
    }

    /// The round failed: it waits and is sent again, or the turn ends.
    pub(super) fn retry_or_end(&mut self, error: RoundError) -> State {
        self.run.failed_attempts += 1;
        let attempt = self.run.failed_attempts;
        if !error.is_retryable() || attempt >= self.cx.retry.attempts {
            return self.end(Ended::Failed(error));
        }
        let wait = backoff::delay_ms(&self.cx.retry, attempt, error.retry_after_ms, self.cx.random);
        let until = self.now().plus_ms(wait);
        self.show(Sight::Retry { why: error.to_string() });
        self.push(TurnEffect::RetryAt(until));
        State::RetryWait(RetryWait { until, why: error.to_string(), attempt: attempt + 1 })
    }

    pub(super) fn end(&mut self, ended: Ended) -> State {
        self.push(TurnEffect::Observe(Span::TurnEnd {
            stop_reason: ended.name().to_owned(),
            interrupted: ended == Ended::Interrupted,
            llm_calls: self.run.llm_calls,
            tool_calls: self.run.tool_calls,
        }));
        let goes_on = matches!(ended, Ended::Done(_)) && !self.queue.is_empty();
        self.push(TurnEffect::Ended(ended));
        if goes_on {
            let messages = self.take_queue();
            return self.begin_turn(messages);
        }
        State::Idle
    }

    pub(super) fn end_done(&mut self, stop: StopReason) -> State {
        self.end(Ended::Done(stop))
    }

    pub(super) fn say(&mut self, role: Role, block: Block) {
        self.push(TurnEffect::Say(Draft::new(role, block)));
    }

    fn say_all(&mut self, messages: Vec<Vec<Block>>) {
        for block in messages.into_iter().flatten() {
            self.say(Role::User, block);
        }
    }

    pub(super) fn observe_round(
        &mut self,
        times: RoundTimes,
        usage: Option<Usage>,
        outcome: SpanOutcome,
    ) {
        self.run.llm_calls += 1;
        let now = self.now();
        self.push(TurnEffect::Observe(Span::LlmCall {
            duration_ms: now.since_ms(times.started),
            ttft_ms: times.first_token.map(|first| first.since_ms(times.started)),
            usage,
            outcome,
            attempts: self.run.failed_attempts + 1,
        }));
    }

    /// A call has its result: said, observed, and its todos taken over. `since` is when it began to run.
    pub(super) fn settle(&mut self, call: &ToolUse, outcome: ToolOutcome, since: Moment) {
        self.run.tool_calls += 1;
        let status = outcome.status;
        let is_error = outcome.is_error();
        let duration_ms = self.now().since_ms(since);
        self.push(TurnEffect::Observe(Span::ToolCall {
            call: call.clone(),
            call_seq: self.run.tool_calls,
            result: outcome.text.clone(),
            duration_ms,
            outcome: span_outcome(status, &outcome.text),
        }));
        let cut = cut::middle(&outcome.text, RESULT_BYTES_MAX, RESULT_LINES_MAX);
        let view = cut.and_then(|cut| Some((cut.apply(&outcome.text)?, cut)));
        let (content, original) = match view {
            Some((view, cut)) => (view, Some((outcome.text, cut))),
            None => (outcome.text, None),
        };
        let result = ToolResult {
            tool_use_id: call.id.clone(),
            content,
            is_error,
            images: outcome.images,
            shown: outcome.shown,
        };
        let mut draft = Draft::new(Role::User, Block::ToolResult(result));
        draft.interrupted = status == ToolStatus::Interrupted;
        draft.original = original;
        self.push(TurnEffect::Say(draft));
        if let Some(todos) = outcome.todos {
            self.push(TurnEffect::SetTodos(todos));
        }
    }
}

fn span_outcome(status: ToolStatus, text: &str) -> SpanOutcome {
    match status {
        ToolStatus::Ok => SpanOutcome::Ok,
        ToolStatus::Failed => SpanOutcome::Error(text.to_owned()),
        ToolStatus::Interrupted => SpanOutcome::Aborted,
    }
}
