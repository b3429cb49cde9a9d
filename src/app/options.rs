//! Facts that do not change while the process runs.

use crate::config::schema::Notifications;
use crate::conversation::mode::Mode;
use crate::conversation::tool_call::ToolSpec;
use crate::turn::Attended;
use crate::turn::backoff::RetryPolicy;

#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    pub version: &'static str,
    pub attended: Attended,
    pub retry: RetryPolicy,
    /// Rounds of one turn before it stops.
    pub rounds_max: u32,
    /// What the model can call, by mode.
    pub tools: ToolSets,
    /// The slash commands, as the registry lists them.
    pub commands: Vec<CommandRow>,
    /// How something is told to a terminal that is not in front.
    pub notifications: Notifications,
}

/// A slash command as the screen shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandRow {
    pub name: &'static str,
    pub usage: &'static [&'static str],
    pub help: &'static str,
}

/// The tools of each mode.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolSets {
    pub plan: Vec<ToolSpec>,
    pub work: Vec<ToolSpec>,
}

impl ToolSets {
    pub fn of(&self, mode: Mode) -> Vec<ToolSpec> {
        match mode {
            Mode::Plan => self.plan.clone(),
            Mode::Work => self.work.clone(),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            attended: Attended::ByPerson,
            retry: RetryPolicy::default(),
            rounds_max: crate::base::limits::ROUNDS_MAX,
            tools: ToolSets::default(),
            commands: Vec::new(),
            notifications: Notifications::default(),
        }
    }
}
