//! Reports of tasks → the owner of the task. A report nobody waits for is dropped here, and only here.

use crate::app::App;
use crate::app::effect::Effect;
use crate::app::event::{Report, Said};
use crate::app::tasks::Work;
use crate::base::time::At;
use crate::conversation::round::RoundEvent;
use crate::conversation::tool_call::ToolEvent;
use crate::turn::TurnEvent;

use super::turn;

pub(super) fn on(app: &mut App, report: Report, at: At) -> Vec<Effect> {
    let Some(owner) = app.tasks.owner(report.task).cloned() else { return Vec::new() };
    if is_last(&report.said) {
        app.tasks.remove(report.task);
    }
    let event = match (owner.work, report.said) {
        (Work::Round, Said::Round(event)) => TurnEvent::Round(event),
        (Work::Round, Said::Died(why)) => TurnEvent::RoundDied(why),
        (Work::Prepare(call), Said::Prepared(result)) => TurnEvent::Prepared(call, result),
        (Work::Tool(call), Said::Tool(event)) => TurnEvent::Tool(call, event),
        (Work::Prepare(call) | Work::Tool(call), Said::Died(why)) => TurnEvent::ToolDied(call, why),
        // A task speaks of its own work only.
        (Work::Round | Work::Prepare(_), Said::Tool(_))
        | (Work::Round | Work::Tool(_), Said::Prepared(_))
        | (Work::Prepare(_) | Work::Tool(_), Said::Round(_)) => return Vec::new(),
    };
    turn::drive(app, owner.session, event, at)
}

fn is_last(said: &Said) -> bool {
    match said {
        Said::Round(event) => matches!(event, RoundEvent::End { .. } | RoundEvent::Failed(_)),
        Said::Prepared(_) | Said::Died(_) => true,
        Said::Tool(event) => matches!(event, ToolEvent::Done(_)),
    }
}
