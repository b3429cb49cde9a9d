//! The theme that the configuration names, for this terminal's colours.
#![expect(clippy::disallowed_methods, reason = "the edge reads files")]

use super::environment::Environment;
use super::error::UserError;
use crate::base::text::near;
use crate::store::home::Home;
use crate::terminal::facts::{self, Facts};
use crate::ui::theme::{self, BUILTIN, ColourDepth, Theme, ThemeSpec};

/// The theme of `auto` while the terminal's background is not asked for.
const AUTO: &str = "crystal-dark";

pub(super) fn chosen(environment: &Environment, name: &str) -> Result<(Theme, Facts), UserError> {
    let variable = |name: &str| environment.variable(name);
    let names = ["NO_COLOR", "COLORTERM", "TERM", "TMUX", "STY", "WT_SESSION"];
    let [no_color, colorterm, term, tmux, sty, wt_session] = names.map(variable);
    let facts = Facts::from_environment(facts::Environment {
        no_color: no_color.as_deref(),
        colorterm: colorterm.as_deref(),
        term: term.as_deref(),
        tmux: tmux.as_deref(),
        sty: sty.as_deref(),
        wt_session: wt_session.as_deref(),
    });
    let depth = match facts.colours {
        facts::ColourDepth::TrueColour => ColourDepth::TrueColour,
        facts::ColourDepth::Palette256 => ColourDepth::Indexed256,
        facts::ColourDepth::Sixteen => ColourDepth::Ansi16,
        facts::ColourDepth::None => ColourDepth::None,
    };
    let spec = spec(environment, if name == "auto" { AUTO } else { name })?;
    Ok((Theme::resolve(&spec, depth), facts))
}

fn spec(environment: &Environment, name: &str) -> Result<ThemeSpec, UserError> {
    let file = Home::at(&environment.home).themes().join(format!("{name}.json"));
    // A name is a name, never a path.
    let is_name = !name.is_empty() && !name.contains(['/', '\\']) && !name.starts_with('.');
    if is_name && let Ok(text) = std::fs::read_to_string(&file) {
        let place = file.display().to_string();
        return theme::load(&text).map_err(|error| UserError::usage(error.to_string()).at(place));
    }
    let built_in = BUILTIN.iter().find(|(built_in, _)| *built_in == name);
    let Some((_, text)) = built_in else { return Err(unknown(name)) };
    theme::load(text).map_err(|error| UserError::usage(error.to_string()).at(name.to_owned()))
}

fn unknown(name: &str) -> UserError {
    let names = BUILTIN.iter().map(|(name, _)| *name);
    let hint = match near::nearest(name, names.clone()) {
        Some(nearest) => format!("Did you mean {nearest}?"),
        None => format!("Known are {}.", names.collect::<Vec<_>>().join(", ")),
    };
    UserError::usage(format!("there is no theme {name}")).at("theme").hint(hint)
}
