//! The directory that the process works in, as it was found.

use std::path::PathBuf;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Workspace {
    /// With symbolic links resolved.
    pub path: PathBuf,
    /// As a person should read it: `~/project`.
    pub shown: String,
    pub trust: Trust,
    /// The branch that git has checked out.
    pub branch: Option<String>,
    /// The operating system, for the prompt.
    pub system: String,
    /// Instructions files, farthest first; empty while the directory is not trusted.
    pub instructions: Vec<Instructions>,
    /// `.crystal/plan.md` and `.crystal/work.md` of a trusted workspace.
    pub plan_text: Option<String>,
    pub work_text: Option<String>,
    /// What the person is told once, such as a file that was cut or has hidden characters.
    pub notes: Vec<String>,
}

/// An instructions file that the prompt includes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instructions {
    pub path: String,
    pub text: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Trust {
    /// The person said yes, now or earlier.
    Trusted,
    /// Nothing here would be read or run, trusted or not.
    #[default]
    NothingToTrust,
    /// Names what is not read until the person says yes.
    Untrusted { holds: Vec<String> },
}

impl Workspace {
    pub fn at(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { shown: path.display().to_string(), path, ..Self::default() }
    }
}
