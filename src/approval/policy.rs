//! The person's standing answer.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What goes without a question (spec, tools-safety, *Approvals*).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Every change asks.
    ReadOnly,
    /// Edits in the workspace and commands ask.
    #[default]
    Ask,
    /// Edits in the workspace go, commands ask.
    AutoEdit,
    /// Inside the sandbox everything goes; without a sandbox this is `Ask`.
    Auto,
    /// The approval model judges.
    Model,
    /// Everything goes.
    Full,
}

impl Policy {
    pub const ALL: [Self; 6] =
        [Self::ReadOnly, Self::Ask, Self::AutoEdit, Self::Auto, Self::Model, Self::Full];

    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Ask => "ask",
            Self::AutoEdit => "auto-edit",
            Self::Auto => "auto",
            Self::Model => "model",
            Self::Full => "full",
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Policy {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let known = || Self::ALL.map(Self::name).join(", ");
        Self::ALL
            .into_iter()
            .find(|policy| policy.name() == text)
            .ok_or_else(|| format!("must be one of {} (got {text})", known()))
    }
}
