//! `/help`

use crate::app::panels::Panel;
use crate::app::panels::info::{Info, InfoRow};

use super::args::Args;
use super::{Allowed, Command, CommandError, Scope, no_completions, registry};

pub const HELP: Command = Command {
    name: "help",
    aliases: &["?"],
    help: "Shows keys and commands",
    usage: &["/help"],
    allowed: Allowed::Always,
    complete: no_completions,
    run,
};

const FIRST_WORDS: &str = "Type what you want done and press Enter. The model reads and changes this folder with \
your approval. Esc stops it at any moment; nothing that was said is lost.";

fn run(scope: &mut Scope<'_>, args: Args<'_>) -> Result<(), CommandError> {
    args.none()?;
    let mut rows = vec![InfoRow::Text(FIRST_WORDS.into())];
    let mut layer = None;
    for row in scope.app.keymap.help_rows() {
        if layer.replace(row.layer) != Some(row.layer) {
            rows.push(InfoRow::Heading(row.layer.title().into()));
        }
        rows.push(InfoRow::Pair(row.keys, row.help.into()));
    }
    rows.push(InfoRow::Heading("Commands".into()));
    rows.extend(registry::help_rows());
    scope.app.panels.open(Panel::Info(Info::new("Help", rows)));
    Ok(())
}
