//! Waiting to send a round again. A state, not a sleep: the countdown reads it, Esc leaves it.

use crate::base::time::Moment;

use super::effect::Ended;
use super::event::TurnEvent;
use super::machine::{Phase, State};
use super::scope::Scope;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct RetryWait {
    pub(super) until: Moment,
    pub(super) why: String,
    /// The number of the request that will be sent, from 2.
    pub(super) attempt: u32,
}

impl RetryWait {
    pub(super) fn on(self, event: TurnEvent, scope: &mut Scope<'_>) -> State {
        match event {
            TurnEvent::RetryDue => scope.send_request(),
            TurnEvent::Interrupt => scope.end(Ended::Interrupted),
            TurnEvent::Submit(message) => {
                scope.enqueue(message);
                State::RetryWait(self)
            }
            TurnEvent::SendQueue
            | TurnEvent::Round(_)
            | TurnEvent::RoundDied(_)
            | TurnEvent::Prepared(..)
            | TurnEvent::Tool(..)
            | TurnEvent::ToolDied(..)
            | TurnEvent::Answered(..)
            | TurnEvent::RulesChanged
            | TurnEvent::PartialDue => State::RetryWait(self),
        }
    }

    pub(super) fn phase(&self) -> Phase<'_> {
        Phase::Retrying { until: self.until, why: &self.why, attempt: self.attempt }
    }
}
