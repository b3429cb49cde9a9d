//! The calls of one round, from the model's words to their results.
//!
//! Invariants: a call is looked at only when no changing call before it is unsettled, so that it sees the
//! files as they will be; a changing call runs alone; reading calls run side by side; each slot settles once.

use crate::approval::action::Prepared;
use crate::approval::decision::Verdict;
use crate::base::id::CallId;
use crate::base::time::Moment;
use crate::conversation::message::ToolUse;
use crate::conversation::pairing::INTERRUPTED_RESULT;
use crate::conversation::round::StopReason;
use crate::conversation::tool_call::{ToolEvent, ToolOutcome, invalid_arguments};

use super::effect::{CallSight, Ended, Question, Sight, TurnEffect};
use super::event::{Answer, Attended, TurnEvent};
use super::machine::{Phase, State};
use super::scope::Scope;

/// The result of a call whose arguments the reply's token limit cut off.
pub const CUT_BY_LIMIT: &str = "Not run: the reply reached its output limit in the middle of this call, so its \
     arguments are incomplete. Call again with less in one call.";

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Batch {
    slots: Vec<Slot>,
    since: Moment,
    is_interrupted: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct Slot {
    call: ToolUse,
    state: SlotState,
}

#[derive(Debug, Clone, PartialEq)]
enum SlotState {
    Unseen,
    Preparing,
    /// Allowed, or to be asked about, once everything before it is settled.
    Ready(Box<Prepared>),
    Asking(Box<Prepared>),
    Running {
        since: Moment,
        is_independent: bool,
    },
    Settled,
}

impl Batch {
    pub(super) fn begin(calls: Vec<ToolUse>, stop: &StopReason, scope: &mut Scope<'_>) -> State {
        let slot = |call| Slot { call, state: SlotState::Unseen };
        let slots = calls.into_iter().map(slot).collect();
        let mut batch = Self { slots, since: scope.now(), is_interrupted: false };
        if *stop == StopReason::Length {
            batch.refuse_cut_call(scope);
        }
        batch.advance(scope)
    }

    /// W12: arguments that the output limit cut are neither repaired nor run.
    fn refuse_cut_call(&mut self, scope: &mut Scope<'_>) {
        let Some(last) = self.slots.last_mut() else { return };
        if invalid_arguments(&last.call).is_some() {
            last.settle(ToolOutcome::failed(CUT_BY_LIMIT), scope.now(), scope);
        }
    }

    pub(super) fn on(mut self, event: TurnEvent, scope: &mut Scope<'_>) -> State {
        match event {
            TurnEvent::Prepared(call, result) => self.on_prepared(&call, result, scope),
            TurnEvent::Tool(call, ToolEvent::Output(text)) => {
                if self.running(&call).is_some() {
                    scope.show(Sight::CallOutput { call, text });
                }
            }
            TurnEvent::Tool(call, ToolEvent::Done(outcome)) => self.on_done(&call, outcome, scope),
            TurnEvent::ToolDied(call, why) => {
                let text = format!("The tool stopped unexpectedly: {why}");
                self.on_done(&call, ToolOutcome::failed(text), scope);
            }
            TurnEvent::Answered(call, answer) => self.on_answer(&call, answer, scope),
            TurnEvent::RulesChanged => self.judge_again(scope),
            TurnEvent::Submit(message) => scope.enqueue(message),
            TurnEvent::Interrupt => self.interrupt(scope),
            TurnEvent::SendQueue
            | TurnEvent::Round(_)
            | TurnEvent::RoundDied(_)
            | TurnEvent::RetryDue
            | TurnEvent::PartialDue => {}
        }
        self.advance(scope)
    }

    /// Starts whatever may start now; leaves the state when all calls are settled.
    fn advance(mut self, scope: &mut Scope<'_>) -> State {
        let mut index = 0;
        while index < self.slots.len() {
            let before = &self.slots[..index];
            let all_settled = before.iter().all(Slot::is_settled);
            let only_readers = before.iter().all(Slot::is_settled_or_reader);
            let slot = &mut self.slots[index];
            match &slot.state {
                SlotState::Unseen if only_readers => {
                    slot.state = SlotState::Preparing;
                    scope.push(TurnEffect::Prepare(slot.call.clone()));
                }
                SlotState::Ready(prepared) if all_settled || prepared.is_independent => {
                    let prepared = prepared.clone();
                    slot.judge(prepared, scope);
                }
                SlotState::Unseen
                | SlotState::Preparing
                | SlotState::Ready(_)
                | SlotState::Asking(_)
                | SlotState::Running { .. }
                | SlotState::Settled => {}
            }
            index += 1;
        }
        if !self.slots.iter().all(Slot::is_settled) {
            return State::Batch(self);
        }
        if self.is_interrupted { scope.end(Ended::Interrupted) } else { scope.next_round() }
    }

    fn on_prepared(
        &mut self,
        call: &CallId,
        result: Result<Box<Prepared>, Box<ToolOutcome>>,
        scope: &mut Scope<'_>,
    ) {
        let Some(slot) = self.find(call, |state| *state == SlotState::Preparing) else { return };
        match result {
            Ok(prepared) => slot.state = SlotState::Ready(prepared),
            Err(outcome) => slot.settle(*outcome, scope.now(), scope),
        }
    }

    fn on_done(&mut self, call: &CallId, outcome: ToolOutcome, scope: &mut Scope<'_>) {
        let now = scope.now();
        let Some(slot) = self.find(call, |state| *state != SlotState::Settled) else { return };
        let since = slot.running_since().unwrap_or(now);
        slot.settle(outcome, since, scope);
    }

    fn on_answer(&mut self, call: &CallId, answer: Answer, scope: &mut Scope<'_>) {
        let is_asking = |state: &SlotState| matches!(state, SlotState::Asking(_));
        let Some(slot) = self.find(call, is_asking) else { return };
        let SlotState::Asking(prepared) = slot.state.clone() else { return };
        scope.push(TurnEffect::Unask(call.clone()));
        match answer {
            Answer::Yes => slot.run(prepared, scope),
            Answer::No { reason } => slot.deny(&declined(reason.as_deref()), scope),
        }
    }

    /// X12: plan mode wins also over a call that already waits for an answer.
    fn judge_again(&mut self, scope: &mut Scope<'_>) {
        for slot in &mut self.slots {
            let SlotState::Asking(prepared) = slot.state.clone() else { continue };
            scope.push(TurnEffect::Unask(slot.call.id.clone()));
            slot.judge(prepared, scope);
        }
    }

    fn interrupt(&mut self, scope: &mut Scope<'_>) {
        let is_second = std::mem::replace(&mut self.is_interrupted, true);
        for slot in &mut self.slots {
            match &slot.state {
                SlotState::Settled => {}
                SlotState::Running { since, .. } if is_second => {
                    let since = *since;
                    slot.settle(ToolOutcome::interrupted(INTERRUPTED_RESULT), since, scope);
                }
                // The report still comes, with what the call had done.
                SlotState::Running { .. } => scope.push(TurnEffect::StopCall(slot.call.id.clone())),
                SlotState::Asking(_) => {
                    scope.push(TurnEffect::Unask(slot.call.id.clone()));
                    slot.settle(ToolOutcome::interrupted(INTERRUPTED_RESULT), scope.now(), scope);
                }
                SlotState::Unseen | SlotState::Preparing | SlotState::Ready(_) => {
                    slot.settle(ToolOutcome::interrupted(INTERRUPTED_RESULT), scope.now(), scope);
                }
            }
        }
    }

    /// The slot of a call, if its state is as wanted. Names of calls can repeat: the first such slot counts.
    fn find(&mut self, call: &CallId, wanted: impl Fn(&SlotState) -> bool) -> Option<&mut Slot> {
        self.slots.iter_mut().find(|slot| slot.call.id == *call && wanted(&slot.state))
    }

    fn running(&mut self, call: &CallId) -> Option<&mut Slot> {
        self.find(call, |state| matches!(state, SlotState::Running { .. }))
    }

    pub(super) fn phase(&self) -> Phase<'_> {
        let asking = self.slots.iter().find(|slot| matches!(slot.state, SlotState::Asking(_)));
        if let Some(slot) = asking {
            return Phase::Asking { call: &slot.call.id };
        }
        Phase::Tools {
            since: self.since,
            running: self.slots.iter().filter(|slot| slot.running_since().is_some()).count(),
            settled: self.slots.iter().filter(|slot| slot.is_settled()).count(),
            all: self.slots.len(),
        }
    }
}

impl Slot {
    fn is_settled(&self) -> bool {
        self.state == SlotState::Settled
    }

    /// Nothing that comes after it can be changed by it.
    fn is_settled_or_reader(&self) -> bool {
        match &self.state {
            SlotState::Settled => true,
            SlotState::Running { is_independent, .. } => *is_independent,
            SlotState::Ready(prepared) | SlotState::Asking(prepared) => prepared.is_independent,
            SlotState::Unseen | SlotState::Preparing => false,
        }
    }

    fn running_since(&self) -> Option<Moment> {
        match self.state {
            SlotState::Running { since, .. } => Some(since),
            _ => None,
        }
    }

    fn judge(&mut self, prepared: Box<Prepared>, scope: &mut Scope<'_>) {
        match (scope.cx.judge)(&prepared) {
            Verdict::Allow => self.run(prepared, scope),
            Verdict::Deny { why } => self.deny(&why, scope),
            Verdict::Ask { why, always, warning } => match scope.cx.attended {
                Attended::ByPerson => {
                    self.state = SlotState::Asking(prepared.clone());
                    self.show(CallSight::Asking, scope);
                    scope.push(TurnEffect::Ask(Question { prepared, why, always, warning }));
                }
                Attended::ByNobody => {
                    let text =
                        format!("Denied: {why}, and nobody is here to answer. Do without it.");
                    self.deny(&text, scope);
                }
            },
        }
    }

    fn run(&mut self, prepared: Box<Prepared>, scope: &mut Scope<'_>) {
        let is_independent = prepared.is_independent;
        self.state = SlotState::Running { since: scope.now(), is_independent };
        self.show(CallSight::Running, scope);
        scope.push(TurnEffect::Run(prepared));
    }

    fn deny(&mut self, text: &str, scope: &mut Scope<'_>) {
        self.show(CallSight::Denied, scope);
        let now = scope.now();
        self.settle(ToolOutcome::failed(text), now, scope);
    }

    fn settle(&mut self, outcome: ToolOutcome, since: Moment, scope: &mut Scope<'_>) {
        self.state = SlotState::Settled;
        scope.settle(&self.call, outcome, since);
    }

    fn show(&self, state: CallSight, scope: &mut Scope<'_>) {
        scope.show(Sight::CallState { call: self.call.id.clone(), state });
    }
}

/// How the result of a call begins that the person declined; an opened session knows it by this.
pub const DECLINED: &str = "The person declined this call";

fn declined(reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("{DECLINED} and said: {reason}"),
        None => {
            format!("{DECLINED}. Ask what they want instead, or go on without it.")
        }
    }
}
