//! `/copy`

use crate::app::effect::{Effect, ScreenEffect};

use super::args::Args;
use super::{Allowed, Command, CommandError, Scope, no_completions};

pub const COPY: Command = Command {
    name: "copy",
    aliases: &[],
    help: "Copies the last answer to the clipboard",
    usage: &["/copy"],
    allowed: Allowed::Always,
    complete: no_completions,
    run,
};

fn run(scope: &mut Scope<'_>, args: Args<'_>) -> Result<(), CommandError> {
    args.none()?;
    let text = scope.app.front().feed.last_answer().map(str::to_owned);
    let text = text.ok_or_else(|| CommandError::new("There is no answer to copy yet"))?;
    scope.app.hint(
        "Copied (OSC 52; if your terminal refuses it, select with the mouse after F2)",
        scope.at,
    );
    scope.effects.push(Effect::Screen(ScreenEffect::Copy(text)));
    Ok(())
}
