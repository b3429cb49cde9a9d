//! Whether the model may change things.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Read-only: ends in a plan that the person accepts.
    Plan,
    #[default]
    Work,
}

impl Mode {
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Plan => Self::Work,
            Self::Work => Self::Plan,
        }
    }
    pub fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Work => "work",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Mode {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "plan" => Ok(Self::Plan),
            "work" => Ok(Self::Work),
            _ => Err(format!("must be plan or work (got {text})")),
        }
    }
}
