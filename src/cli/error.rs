//! Errors of the command line: one or two lines, and an exit code.

use std::fmt;

use crate::base::text::cut;

/// An error as a person reads it: what, where, what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserError {
    pub kind: ErrorKind,
    pub what: String,
    /// The file, key or flag that it is about.
    pub place: Option<String>,
    pub hint: Option<String>,
}

/// What went wrong, as far as the exit code tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The turn failed: provider, limit, input or output.
    Failed,
    /// Bad usage or configuration.
    Usage,
    /// Nothing to open: a missing, empty or locked session.
    NothingToOpen,
    Interrupted,
}

/// Characters of an error that are printed: it stays one or two lines.
const TEXT_CHARS_MAX: usize = 600;

impl UserError {
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), place: None, hint: None }
    }
    pub fn failed(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failed, what)
    }
    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, what)
    }
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
    pub fn exit_code(&self) -> u8 {
        exit_code(self.kind)
    }
}

/// The one place that knows the exit codes (spec, cli-config, *Commands*).
pub fn exit_code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Failed => 1,
        ErrorKind::Usage => 2,
        ErrorKind::NothingToOpen => 3,
        ErrorKind::Interrupted => 130,
    }
}

impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = match &self.place {
            Some(place) => format!("{place}: {}", self.what),
            None => self.what.clone(),
        };
        // Names of files and flags may hold anything; none of it may reach the terminal as a command.
        line.retain(|c| !c.is_control() || c == '\n');
        let line = line.replace('\n', " ");
        write!(f, "crystal: {}", cut::chars(&line, TEXT_CHARS_MAX))?;
        match &self.hint {
            Some(hint) => write!(f, "\n  {}", cut::chars(hint, TEXT_CHARS_MAX)),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UserError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_where_and_what_to_do() {
        let error =
            UserError::usage("must be at least 1 (got 0)").at("retry.attempts").hint("Remove it.");
        assert_eq!(
            error.to_string(),
            "crystal: retry.attempts: must be at least 1 (got 0)\n  Remove it."
        );
        assert_eq!(error.exit_code(), 2);
    }

    // T14, X16: any text is cut on a character's border and cannot steer the terminal.
    #[test]
    fn any_text_is_printed_safely() {
        for before in ["", "a", "ab", "abc"] {
            let text =
                UserError::failed(format!("{before}{}\u{1b}[2J\nx", "🦀".repeat(700))).to_string();
            assert!(text.chars().count() <= TEXT_CHARS_MAX + 9 && !text.contains(['\u{1b}', '\n']));
        }
    }
}
