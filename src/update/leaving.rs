//! The orderly exit: turns are stopped, what was said is kept, sessions are saved, files are closed.
//!
//! A stopped call may still tell what it had done; the exit waits for that, but not for ever, and a second
//! request to leave waits for nothing.

use crate::app::effect::{Effect, Exit, StoreOp};
use crate::app::tasks::Due;
use crate::app::{App, Leaving};
use crate::base::limits::LEAVING_MS_MAX;
use crate::base::time::At;
use crate::turn::TurnEvent;

use super::turn;

pub(super) fn advance(app: &mut App, at: At) -> Vec<Effect> {
    let leaving = app.leaving;
    match leaving {
        Leaving::No | Leaving::Gone => Vec::new(),
        Leaving::Asked(exit) => {
            let mut effects = interrupt_all(app, at);
            if all_idle(app) {
                effects.extend(finish(app, exit, at));
            } else {
                effects.push(wait(app, exit, at));
            }
            effects
        }
        Leaving::Waiting { exit, until } if all_idle(app) || at.moment >= until => {
            finish(app, exit, at)
        }
        Leaving::Waiting { .. } => Vec::new(),
    }
}

fn all_idle(app: &mut App) -> bool {
    let sessions = app.session_ids();
    sessions.into_iter().all(|id| app.session_mut(id).is_none_or(|live| live.turn.is_idle()))
}

fn interrupt_all(app: &mut App, at: At) -> Vec<Effect> {
    let sessions = app.session_ids();
    let stop = |id| turn::drive(app, id, TurnEvent::Interrupt, at);
    sessions.into_iter().flat_map(stop).collect()
}

fn wait(app: &mut App, exit: Exit, at: At) -> Effect {
    let until = at.moment.plus_ms(LEAVING_MS_MAX);
    app.leaving = Leaving::Waiting { exit, until };
    let timer = app.ids.timer();
    app.tasks.set_timer(timer, app.front().id(), Due::Leave);
    Effect::Timer(timer, until)
}

fn finish(app: &mut App, exit: Exit, at: At) -> Vec<Effect> {
    app.leaving = Leaving::Gone;
    // Calls that would not stop are settled without their last words.
    let mut effects = interrupt_all(app, at);
    for session in app.session_ids() {
        effects.extend(app.tasks.drain(session).into_iter().map(Effect::Stop));
        if let Some(live) = app.session_mut(session) {
            effects.extend(live.save());
            effects.push(Effect::Store(session, StoreOp::Close));
        }
    }
    effects.push(Effect::Exit(exit));
    effects
}
