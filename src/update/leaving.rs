//! The orderly exit: turns are stopped, what was said is kept, sessions are saved, files are closed.

use crate::app::effect::{Effect, StoreOp};
use crate::app::{App, Leaving};
use crate::base::time::At;
use crate::turn::TurnEvent;

use super::turn;

pub(super) fn advance(app: &mut App, at: At) -> Vec<Effect> {
    let Leaving::Asked(exit) = app.leaving else { return Vec::new() };
    app.leaving = Leaving::Gone;
    let mut effects = Vec::new();
    for session in app.session_ids() {
        // The first stops what can be stopped, the second does not wait for what cannot.
        for _ in 0..2 {
            effects.extend(turn::drive(app, session, TurnEvent::Interrupt, at));
        }
        effects.extend(app.tasks.drain(session).into_iter().map(Effect::Stop));
        if let Some(live) = app.session_mut(session) {
            effects.extend(live.save());
            effects.push(Effect::Store(session, StoreOp::Close));
        }
    }
    effects.push(Effect::Exit(exit));
    effects
}
