//! The turn engine: a pure state machine.
//!
//! One user message and all that follows until the model stops: rounds, tool batches, retries. The machine
//! takes a [`TurnEvent`] and returns [`TurnEffect`]s; it knows no clock, task, file or screen.
//!
//! Invariants: every call that was said gets exactly one result, whatever happens; a message that waits in
//! the queue is neither lost nor said twice; after [`TurnEffect::Ended`] the machine is idle.
//! Not here: what a request holds (`update::turn`), whether to compact (`update::compaction`).

pub mod backoff;
mod batch;
pub mod effect;
pub mod event;
pub mod machine;
pub mod queue;
mod retry_wait;
mod scope;
mod streaming;

#[cfg(test)]
mod tests;

pub use batch::DECLINED;
pub use effect::{CallSight, Draft, Ended, PartialKind, Sight, Span, TurnEffect};
pub use event::{Answer, Attended, Context, TurnEvent};
pub use machine::{Phase, Turn};
