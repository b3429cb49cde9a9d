//! Which model answers, and what it can do.

use serde::{Deserialize, Serialize};

use super::gear::Gear;

/// A chosen model: the provider's name in the configuration and the model's id there.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelChoice {
    pub provider: String,
    pub id: String,
    #[serde(default)]
    pub thinking_effort: Gear,
}

impl ModelChoice {
    /// `provider/id`, as it is typed and shown.
    pub fn label(&self) -> String {
        format!("{}/{}", self.provider, self.id)
    }
}

/// What a model is and what it can do.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSpec {
    pub provider: String,
    pub id: String,
    pub limits: ModelLimits,
    /// The gears that it has; empty = it does not think.
    pub gears: Vec<Gear>,
    pub thinking_off_allowed: bool,
    /// Takes images in messages and tool results.
    pub images: bool,
    pub price: Option<Price>,
}

impl ModelSpec {
    /// The gear to send: `None` leaves the provider's default in force.
    ///
    /// A gear that the model lacks falls back to the provider's default (spec, providers, *Thinking gears*).
    pub fn effective_gear(&self, saved: Gear) -> Option<Gear> {
        match saved {
            Gear::Default => None,
            Gear::Off if self.thinking_off_allowed && !self.gears.is_empty() => Some(Gear::Off),
            gear => self.gears.contains(&gear).then_some(gear),
        }
    }
}

/// Tokens that a model takes and gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelLimits {
    /// The whole window, in tokens.
    pub context_window: u32,
    /// The longest reply, in tokens, if it has a limit.
    pub max_tokens: Option<u32>,
}

/// Money for a million tokens, in US dollars.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    pub cache_write: f64,
}
