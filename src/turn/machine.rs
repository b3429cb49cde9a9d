//! The states and the way between them.

use crate::base::id::CallId;
use crate::base::time::Moment;
use crate::conversation::message::Block;

use super::batch::Batch;
use super::effect::TurnEffect;
use super::event::{Context, TurnEvent};
use super::queue::Queue;
use super::retry_wait::RetryWait;
use super::scope::{Run, Scope};
use super::streaming::Streaming;

/// The turn of one session: running, or idle between turns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Turn {
    state: State,
    run: Run,
    queue: Queue,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum State {
    #[default]
    Idle,
    Streaming(Streaming),
    Batch(Batch),
    RetryWait(RetryWait),
}

/// What the turn is doing, for the progress row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase<'a> {
    Idle,
    /// The request was sent; nothing of the reply is there yet.
    Waiting {
        since: Moment,
    },
    Replying {
        since: Moment,
    },
    Tools {
        since: Moment,
        running: usize,
        settled: usize,
        all: usize,
    },
    /// A question is open about a call.
    Asking {
        call: &'a CallId,
    },
    Retrying {
        until: Moment,
        why: &'a str,
        attempt: u32,
    },
}

impl Turn {
    /// Takes one event; returns what is to be done, in order.
    pub fn on(&mut self, event: TurnEvent, cx: &Context<'_>) -> Vec<TurnEffect> {
        let state = std::mem::take(&mut self.state);
        let mut scope = Scope::new(cx, &mut self.run, &mut self.queue);
        self.state = match state {
            State::Idle => idle(event, &mut scope),
            State::Streaming(streaming) => streaming.on(event, &mut scope),
            State::Batch(batch) => batch.on(event, &mut scope),
            State::RetryWait(wait) => wait.on(event, &mut scope),
        };
        scope.into_effects()
    }

    pub fn phase(&self) -> Phase<'_> {
        match &self.state {
            State::Idle => Phase::Idle,
            State::Streaming(streaming) => streaming.phase(),
            State::Batch(batch) => batch.phase(),
            State::RetryWait(wait) => wait.phase(),
        }
    }

    pub fn is_idle(&self) -> bool {
        self.state == State::Idle
    }

    /// When the running turn began.
    pub fn started(&self) -> Moment {
        self.run.started
    }

    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Whether a message sent now would find no place. An idle turn begins with all that waits.
    pub fn refuses_messages(&self) -> bool {
        !self.is_idle() && self.queue.is_full()
    }

    /// Takes the newest waiting message back, to be edited.
    pub fn take_last_queued(&mut self) -> Option<Vec<Block>> {
        self.queue.take_last()
    }
}

fn idle(event: TurnEvent, scope: &mut Scope<'_>) -> State {
    match event {
        TurnEvent::Submit(message) => {
            let mut messages = scope.take_queue();
            messages.push(message);
            scope.begin_turn(messages)
        }
        TurnEvent::SendQueue => {
            let messages = scope.take_queue();
            if messages.is_empty() { State::Idle } else { scope.begin_turn(messages) }
        }
        // Late words of a turn that is over.
        TurnEvent::Round(_)
        | TurnEvent::RoundDied(_)
        | TurnEvent::Prepared(..)
        | TurnEvent::Tool(..)
        | TurnEvent::ToolDied(..)
        | TurnEvent::Answered(..)
        | TurnEvent::RulesChanged
        | TurnEvent::RetryDue
        | TurnEvent::PartialDue
        | TurnEvent::Interrupt => State::Idle,
    }
}
