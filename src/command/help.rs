//! `/help`

use crate::app::action::{Action, Scroll};
use crate::app::composer::Edit;
use crate::app::keymap::{HelpRow, Layer};
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

/// What somebody needs in the first minutes, in this order.
const FIRST_KEYS: &[Action] = &[
    Action::Edit(Edit::Submit),
    Action::Edit(Edit::Newline),
    Action::Cancel,
    Action::ToggleMode,
    Action::Edit(Edit::Up),
    Action::SearchHistory,
    Action::Scroll(Scroll::PageUp),
    Action::Scroll(Scroll::PageDown),
    Action::Scroll(Scroll::End),
    Action::ToggleFold,
    Action::ToggleMouse,
    Action::Interrupt,
    Action::Quit,
    Action::Help,
];

fn run(scope: &mut Scope<'_>, args: Args<'_>) -> Result<(), CommandError> {
    args.none()?;
    let mut rows = vec![InfoRow::Text(FIRST_WORDS.into())];
    let (first, others) = first_keys(scope.app.keymap.help_rows());
    rows.push(InfoRow::Heading("First keys".into()));
    rows.extend(first.into_iter().map(pair));
    rows.push(InfoRow::Heading("Commands".into()));
    rows.extend(registry::help_rows());
    let mut layer = None;
    for row in others {
        if layer.replace(row.layer) != Some(row.layer) {
            rows.push(InfoRow::Heading(row.layer.title().into()));
        }
        rows.push(pair(row));
    }
    scope.app.panels.open(Panel::Info(Info::new("Help", rows)));
    Ok(())
}

/// The bound keys in two parts: those to begin with, and all others as the table has them.
fn first_keys(rows: Vec<HelpRow>) -> (Vec<HelpRow>, Vec<HelpRow>) {
    let place = |row: &HelpRow| {
        let is_basic =
            matches!(row.layer, Layer::Composer | Layer::EmptyComposer | Layer::Everywhere);
        FIRST_KEYS.iter().position(|action| is_basic && *action == row.action)
    };
    let bound = rows.into_iter().filter(|row| !row.keys.is_empty());
    let (mut first, others): (Vec<HelpRow>, Vec<HelpRow>) =
        bound.partition(|row| place(row).is_some());
    first.sort_by_key(place);
    (first, others)
}

fn pair(row: HelpRow) -> InfoRow {
    InfoRow::Pair(row.keys, row.help.into())
}
