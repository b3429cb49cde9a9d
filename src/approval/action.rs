//! What a call is about to do, as the tool layer found it: paths resolved, nothing done yet.

use std::path::PathBuf;

use crate::conversation::message::ToolUse;

/// A call that has been looked at and can run once it is allowed.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    pub call: ToolUse,
    pub action: Action,
    /// What a question about it shows.
    pub preview: Preview,
    /// State that must still hold when it runs; checked by the tool, opaque to everyone else.
    pub guard: Option<Guard>,
    /// May run beside other calls of its batch.
    pub is_independent: bool,
}

/// What a call does to the world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Reads below a path.
    Read(Target),
    /// Creates or changes a file.
    Change(Target),
    /// Runs a shell command in the workspace.
    Run { command: String },
    /// Touches the session's own state only.
    Session,
}

/// A path after links were followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// As a person should read it: relative inside the workspace, else absolute.
    pub shown: String,
    pub real: PathBuf,
    pub place: Place,
}

/// Where a path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Workspace,
    /// Inside the workspace, but steering git, crystal or the model: `.git/`, `.crystal/`, instructions files.
    Protected,
    Outside,
}

/// What a question about a call shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Preview {
    /// The exact command.
    Command(String),
    /// The change as a unified diff.
    Diff(String),
    /// The path read or listed.
    Path(String),
}

/// The content that a change was prepared against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    /// The file must not exist.
    Absent,
    /// Lower-case hexadecimal SHA-256 of the file's bytes.
    Content(String),
}
