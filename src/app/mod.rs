//! The state of the workspace.
//!
//! Parts decide, the root routes: every field is a part with its own rules. No senders, no locks, no
//! callbacks; what shall happen outside is returned as [`effect::Effect`]s.

pub mod action;
pub mod approvals;
pub mod cells;
pub mod change;
pub mod composer;
pub mod effect;
pub mod event;
pub mod feed;
pub mod key;
pub mod keymap;
pub mod live;
pub mod models;
pub mod options;
pub mod panels;
pub mod prompt;
pub mod scroll;
pub mod signal;
pub mod tasks;
pub mod workspace;

use crate::base::id::{Ids, SessionId};
use crate::base::time::{At, Moment};

use approvals::Approvals;
use effect::Exit;
use key::{Focused, Size};
use keymap::Keymap;
use live::LiveSession;
use models::Models;
use options::{CommandRow, Options};
use panels::Panels;
use tasks::Tasks;
use workspace::Workspace;

/// The whole workspace.
#[derive(Debug)]
pub struct App {
    pub options: Options,
    pub models: Models,
    pub workspace: Workspace,
    pub approvals: Approvals,
    pub keymap: Keymap,
    pub ids: Ids,
    pub tasks: Tasks,
    pub panels: Panels,
    pub screen: Screen,
    pub leaving: Leaving,
    sessions: Sessions,
}

/// The live sessions; one is in front.
#[derive(Debug)]
struct Sessions {
    front: LiveSession,
    behind: Vec<LiveSession>,
}

/// What is known of the terminal.
#[derive(Debug, Clone, PartialEq)]
pub struct Screen {
    pub size: Size,
    pub focused: Focused,
    pub captures_mouse: bool,
    /// The window's title as it was last given out.
    pub title: String,
    hint: Option<Hint>,
    /// Ctrl+C was pressed once and a second one before this moment quits.
    pub quits_until: Option<Moment>,
}

/// A line in the status bar that goes away by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hint {
    text: String,
    until: Moment,
}

/// Milliseconds that a hint stays.
const HINT_MS: u64 = 4_000;

/// Milliseconds between two frames of the spinner.
pub const SPINNER_MS: u64 = 125;

/// The way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Leaving {
    #[default]
    No,
    /// Asked for; the sessions are not saved yet.
    Asked(Exit),
    /// Running calls were told to end and may still say what they did.
    Waiting { exit: Exit, until: Moment },
    /// All effects that leave in order are given out.
    Gone,
}

impl Default for Screen {
    fn default() -> Self {
        Self {
            size: Size { columns: 80, rows: 24 },
            focused: Focused::Gained,
            captures_mouse: true,
            title: String::new(),
            hint: None,
            quits_until: None,
        }
    }
}

/// What an [`App`] starts with.
#[derive(Debug)]
pub struct Start {
    pub options: Options,
    pub models: Models,
    pub workspace: Workspace,
    pub approvals: Approvals,
    pub keymap: Keymap,
    pub ids: Ids,
}

impl App {
    pub fn new(start: Start, session: LiveSession) -> Self {
        Self {
            options: start.options,
            models: start.models,
            workspace: start.workspace,
            approvals: start.approvals,
            keymap: start.keymap,
            ids: start.ids,
            tasks: Tasks::default(),
            panels: Panels::default(),
            screen: Screen::default(),
            leaving: Leaving::No,
            sessions: Sessions { front: session, behind: Vec::new() },
        }
    }

    /// The session that has the screen.
    pub fn front(&self) -> &LiveSession {
        &self.sessions.front
    }
    pub fn front_mut(&mut self) -> &mut LiveSession {
        &mut self.sessions.front
    }

    pub fn session_mut(&mut self, id: SessionId) -> Option<&mut LiveSession> {
        let behind = self.sessions.behind.iter_mut();
        std::iter::once(&mut self.sessions.front).chain(behind).find(|live| live.state.id == id)
    }

    pub fn session_ids(&self) -> Vec<SessionId> {
        let behind = self.sessions.behind.iter();
        std::iter::once(&self.sessions.front).chain(behind).map(|live| live.state.id).collect()
    }

    /// Puts a session in the place of the one in front, which is closed.
    pub fn replace_front(&mut self, session: LiveSession) -> LiveSession {
        std::mem::replace(&mut self.sessions.front, session)
    }

    /// Shows a line for a few seconds.
    pub fn hint(&mut self, text: impl Into<String>, at: At) {
        let until = at.moment.plus_ms(HINT_MS);
        self.screen.hint = Some(Hint { text: text.into(), until });
    }

    /// The hint that is still to be seen, and when it goes.
    pub fn current_hint(&self, now: Moment) -> Option<(&str, Moment)> {
        let hint = self.screen.hint.as_ref().filter(|hint| hint.until > now)?;
        Some((&hint.text, hint.until))
    }

    /// The commands that fit what is typed after a `/`: their form and their meaning, in the list's order.
    pub fn suggestions(&self, typed: &str) -> Vec<(String, &'static str)> {
        let name = typed.split(char::is_whitespace).next().unwrap_or_default();
        let fits = |row: &&CommandRow| {
            if typed.len() > name.len() { row.name == name } else { row.name.starts_with(name) }
        };
        let shown = |row: &CommandRow| (row.usage.join("  "), row.help);
        self.options.commands.iter().filter(fits).map(shown).collect()
    }

    pub fn leave(&mut self, exit: Exit) {
        self.leaving = match self.leaving {
            Leaving::No => Leaving::Asked(exit),
            // Asked twice: nothing is waited for.
            Leaving::Waiting { exit, .. } => Leaving::Waiting { exit, until: Moment(0) },
            Leaving::Asked(_) | Leaving::Gone => self.leaving,
        };
    }
}
