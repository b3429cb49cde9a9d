//! `/quit`

use super::args::Args;
use super::{Allowed, Command, CommandError, Scope, no_completions};

pub const QUIT: Command = Command {
    name: "quit",
    aliases: &["exit", "q"],
    help: "Saves and leaves",
    usage: &["/quit"],
    allowed: Allowed::Always,
    complete: no_completions,
    run,
};

fn run(scope: &mut Scope<'_>, args: Args<'_>) -> Result<(), CommandError> {
    args.none()?;
    scope.app.leave(crate::app::effect::Exit::Done);
    Ok(())
}
