//! Slash commands: one registry, one file each.
//!
//! A command changes the state and returns effects; it never opens a file. Help, palette, completion and
//! refusals are all made from [`registry::COMMANDS`].

pub mod args;
mod clear;
mod copy;
mod help;
mod mode;
mod model;
mod quit;
pub mod registry;
mod status;
mod thinking;

use crate::app::App;
use crate::app::effect::Effect;
use crate::base::time::At;
use crate::turn::TurnEvent;

use args::Args;

/// One slash command.
pub struct Command {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// One line, no period.
    pub help: &'static str,
    /// Every form, such as `/mode [plan|work]`.
    pub usage: &'static [&'static str],
    pub allowed: Allowed,
    /// Completions of the argument.
    pub complete: fn(&App) -> Vec<String>,
    pub run: fn(&mut Scope<'_>, Args<'_>) -> Result<(), CommandError>,
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "/{}", self.name)
    }
}

/// When a command may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    Always,
    /// Not while a turn runs.
    Idle,
}

/// What a command works with and what it leaves to be done.
#[derive(Debug)]
pub struct Scope<'a> {
    pub app: &'a mut App,
    pub at: At,
    pub effects: Vec<Effect>,
    /// For the turn of the session in front, after the effects.
    pub turn_events: Vec<TurnEvent>,
}

/// Why a command did nothing; one line for the transcript.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CommandError(pub String);

impl CommandError {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

fn no_completions(_: &App) -> Vec<String> {
    Vec::new()
}
