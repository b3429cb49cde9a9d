//! The list of commands, in the order of the palette.

use crate::app::App;
use crate::app::options::CommandRow;
use crate::app::panels::info::InfoRow;
use crate::base::text::near;

use super::args::Args;
use super::{Allowed, Command, CommandError, Scope};
use super::{clear, copy, help, mode, model, quit, status, thinking};

pub const COMMANDS: &[&Command] = &[
    &help::HELP,
    &status::STATUS,
    &model::MODEL,
    &thinking::THINKING,
    &mode::MODE,
    &mode::PLAN,
    &mode::WORK,
    &clear::CLEAR,
    &copy::COPY,
    &quit::QUIT,
];

/// Returns the command of this name or alias.
pub fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().copied().find(|command| command.name == name || command.aliases.contains(&name))
}

/// Runs a typed line that begins with `/`. An unknown command is refused, never sent to the model.
pub fn run(line: &str, scope: &mut Scope<'_>) -> Result<(), CommandError> {
    let typed = line.trim().strip_prefix('/').unwrap_or(line).trim();
    let (name, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    let Some(command) = find(name) else { return Err(unknown(name)) };
    check_allowed(command, scope.app)?;
    (command.run)(scope, Args { command, rest: rest.trim() })
}

/// Whether a message is meant as a command: `/`, then a name without another slash.
pub fn looks_like_command(text: &str) -> bool {
    let Some(rest) = text.trim_start().strip_prefix('/') else { return false };
    let name = rest.split(char::is_whitespace).next().unwrap_or_default();
    !name.contains('/') && text.trim_start().lines().count() <= 1
}

/// The list as the screen shows it.
pub fn rows() -> Vec<CommandRow> {
    let row = |command: &&Command| CommandRow {
        name: command.name,
        usage: command.usage,
        help: command.help,
    };
    COMMANDS.iter().map(row).collect()
}

/// What Tab makes of the text after the `/`.
pub fn completion(app: &App, typed: &str) -> Option<String> {
    match typed.split_once(char::is_whitespace) {
        None => {
            let command = COMMANDS.iter().find(|command| command.name.starts_with(typed))?;
            Some(format!("{} ", command.name))
        }
        Some((name, argument)) => {
            let values = (find(name)?.complete)(app);
            let value = values.into_iter().find(|value| value.starts_with(argument.trim()))?;
            Some(format!("{name} {value}"))
        }
    }
}

/// The rows of `/help`.
pub fn help_rows() -> Vec<InfoRow> {
    COMMANDS
        .iter()
        .map(|command| InfoRow::Pair(command.usage.join(" · "), command.help.into()))
        .collect()
}

fn check_allowed(command: &Command, app: &App) -> Result<(), CommandError> {
    match command.allowed {
        Allowed::Always => Ok(()),
        Allowed::Idle if app.front().turn.is_idle() => Ok(()),
        Allowed::Idle => Err(CommandError::new(format!(
            "/{} waits for the turn to end: Esc stops it",
            command.name
        ))),
    }
}

fn unknown(name: &str) -> CommandError {
    let names = COMMANDS
        .iter()
        .flat_map(|command| [command.name].into_iter().chain(command.aliases.iter().copied()));
    match near::nearest(name, names) {
        Some(nearest) => CommandError::new(format!("No command /{name}. Did you mean /{nearest}?")),
        None => CommandError::new(format!("No command /{name}. /help lists them")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_every_command_explains_itself() {
        let mut seen = HashSet::new();
        for command in COMMANDS {
            for name in [command.name].iter().chain(command.aliases) {
                assert!(seen.insert(*name), "/{name} stands twice");
            }
            assert!(!command.help.is_empty() && !command.help.ends_with('.'), "/{}", command.name);
            for usage in command.usage {
                let first = usage.split_whitespace().next().unwrap();
                assert_eq!(first, format!("/{}", command.name));
            }
        }
    }

    #[test]
    fn a_slip_names_the_nearest_command() {
        assert_eq!(unknown("stauts").0, "No command /stauts. Did you mean /status?");
        assert_eq!(unknown("zzzzzzzz").0, "No command /zzzzzzzz. /help lists them");
    }
}
