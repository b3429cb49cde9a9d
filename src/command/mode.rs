//! `/mode`, `/plan`, `/work`

use crate::app::App;
use crate::app::change;
use crate::conversation::mode::Mode;
use crate::turn::TurnEvent;

use super::args::Args;
use super::{Allowed, Command, CommandError, Scope, no_completions};

pub const MODE: Command = Command {
    name: "mode",
    aliases: &[],
    help: "Switches between plan (read only) and work",
    usage: &["/mode [plan|work]"],
    allowed: Allowed::Always,
    complete: modes,
    run,
};

pub const PLAN: Command = Command {
    name: "plan",
    aliases: &[],
    help: "Plan mode: the model reads and proposes, nothing is changed",
    usage: &["/plan"],
    allowed: Allowed::Always,
    complete: no_completions,
    run: |scope, args| {
        args.none()?;
        set(scope, Mode::Plan);
        Ok(())
    },
};

pub const WORK: Command = Command {
    name: "work",
    aliases: &[],
    help: "Work mode: the model may change files and run commands",
    usage: &["/work"],
    allowed: Allowed::Always,
    complete: no_completions,
    run: |scope, args| {
        args.none()?;
        set(scope, Mode::Work);
        Ok(())
    },
};

fn modes(_: &App) -> Vec<String> {
    vec!["plan".into(), "work".into()]
}

fn run(scope: &mut Scope<'_>, args: Args<'_>) -> Result<(), CommandError> {
    let mode = match args.word()? {
        None => scope.app.front().state.mode.other(),
        Some(word) => word.parse().map_err(|_| args.usage_error())?,
    };
    set(scope, mode);
    Ok(())
}

fn set(scope: &mut Scope<'_>, mode: Mode) {
    if scope.app.front().state.mode == mode {
        scope.app.hint(format!("This is {mode} mode already"), scope.at);
        return;
    }
    scope.effects.extend(change::mode(scope.app, mode, scope.at));
    scope.turn_events.push(TurnEvent::RulesChanged);
}
