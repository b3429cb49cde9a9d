//! Timers that ran out. One that was replaced meanwhile has no owner and is dropped.

use crate::app::App;
use crate::app::effect::Effect;
use crate::app::tasks::Due;
use crate::base::id::TimerId;
use crate::base::time::At;
use crate::turn::TurnEvent;

use super::turn;

pub(super) fn on(app: &mut App, timer: TimerId, at: At) -> Vec<Effect> {
    let Some(owner) = app.tasks.take_timer(timer) else { return Vec::new() };
    let event = match owner.what {
        Due::Retry => TurnEvent::RetryDue,
        Due::Partial => TurnEvent::PartialDue,
        // `leaving::advance` looks at the time after every event.
        Due::Leave => return Vec::new(),
    };
    turn::drive(app, owner.session, event, at)
}
