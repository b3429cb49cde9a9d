//! `/clear`

use crate::app::change;

use super::args::Args;
use super::{Allowed, Command, CommandError, Scope, no_completions};

pub const CLEAR: Command = Command {
    name: "clear",
    aliases: &["new"],
    help: "Saves this session and starts a new one here",
    usage: &["/clear"],
    allowed: Allowed::Idle,
    complete: no_completions,
    run,
};

fn run(scope: &mut Scope<'_>, args: Args<'_>) -> Result<(), CommandError> {
    args.none()?;
    scope.effects.extend(change::clear(scope.app, scope.at));
    Ok(())
}
