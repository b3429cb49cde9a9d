//! What the text before the caret asks to complete.
//!
//! Not here: the candidates (commands come from the registry, files from the walk).

use super::buffer::{Joins, Place};
use super::{Composer, ComposerOutcome};

/// What a completion would complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerKind {
    /// The text is one line that begins with `/`.
    Command,
    /// The word before the caret begins with `@`.
    File,
}

/// A piece of the text that can be completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trigger {
    pub kind: TriggerKind,
    /// What stands between the trigger character and the caret.
    pub query: String,
    start: Place,
    end: Place,
}

/// What a message in the composer would be, by its first character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    Message,
    /// `/name`: a command of the workspace.
    Command,
    /// `!command`: runs in the shell.
    Shell,
}

impl Composer {
    pub fn intent(&self) -> Intent {
        match self.buffer.line(0).chars().next() {
            Some('/') => Intent::Command,
            Some('!') => Intent::Shell,
            _ => Intent::Message,
        }
    }

    /// Returns what could be completed at the caret.
    pub fn trigger(&self) -> Option<Trigger> {
        let end = self.buffer.caret();
        let before = &self.buffer.line(end.line)[..end.byte];
        if let Some(query) = before.strip_prefix('/')
            && self.buffer.lines().len() == 1
        {
            let start = Place { byte: 1, ..end };
            return Some(Trigger {
                kind: TriggerKind::Command,
                query: query.to_owned(),
                start,
                end,
            });
        }
        let word = before
            .rfind(char::is_whitespace)
            .map_or(before, |at| before[at..].trim_start_matches(char::is_whitespace));
        let query = word.strip_prefix('@')?;
        let start = Place { byte: end.byte - query.len(), ..end };
        Some(Trigger { kind: TriggerKind::File, query: query.to_owned(), start, end })
    }

    /// Puts `replacement` where the query of `trigger` stands; does nothing if the text has changed since.
    pub fn complete(&mut self, trigger: &Trigger, replacement: &str) -> ComposerOutcome {
        if self.trigger().as_ref() != Some(trigger) {
            return ComposerOutcome::Nothing;
        }
        let removed = self.buffer.remove(trigger.start, trigger.end, Joins::Alone);
        let joins = if removed.is_empty() { Joins::Alone } else { Joins::Last };
        self.insert(replacement, joins)
    }
}
