//! What was typed after a command's name.

use super::{Command, CommandError};

/// The rest of the line, trimmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Args<'a> {
    pub command: &'a Command,
    pub rest: &'a str,
}

impl PartialEq for Command {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
impl Eq for Command {}

impl Args<'_> {
    /// Refuses any argument.
    pub fn none(&self) -> Result<(), CommandError> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.usage_error()) }
    }

    /// The only word, or nothing.
    pub fn word(&self) -> Result<Option<&str>, CommandError> {
        let mut words = self.rest.split_whitespace();
        match (words.next(), words.next()) {
            (word, None) => Ok(word),
            (_, Some(_)) => Err(self.usage_error()),
        }
    }

    pub fn usage_error(&self) -> CommandError {
        let forms = self.command.usage.join("  or  ");
        CommandError::new(format!(
            "/{} does not take `{}`. Use: {forms}",
            self.command.name, self.rest
        ))
    }
}
