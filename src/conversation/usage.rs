//! Token counts as a provider reports them.

use serde::{Deserialize, Serialize};

use super::model::Price;

/// The tokens of one request or of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Prompt tokens that were neither read from nor written to a cache.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// Part of `output`.
    pub reasoning: u64,
    /// The provider reported nothing (or zeros), and these are the local estimate.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

impl Usage {
    /// How much of the window the request and its reply fill.
    pub fn context_tokens(&self) -> u64 {
        self.prompt_tokens().saturating_add(self.output)
    }

    /// All that was sent: fresh, read from the cache and written to it.
    pub fn prompt_tokens(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// Adds field by field; a sum with an estimate in it is an estimate.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            reasoning: self.reasoning.saturating_add(other.reasoning),
            estimated: self.estimated || other.estimated,
        }
    }

    /// The cost in US dollars.
    pub fn cost(&self, price: &Price) -> f64 {
        let share = |tokens: u64, dollars: f64| tokens as f64 * dollars / 1e6;
        share(self.input, price.input)
            + share(self.output, price.output)
            + share(self.cache_read, price.cache_read)
            + share(self.cache_write, price.cache_write)
    }
}

/// Percent of the window that `used` fills: 0 to 100. `window` of 0 counts as full.
pub fn context_percent(used: u64, window: u32) -> u8 {
    let window = u64::from(window);
    if used >= window {
        return 100;
    }
    u8::try_from(used * 100 / window).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_at_or_beyond_the_window_is_100_percent() {
        for (used, window, percent) in
            [(0, 100, 0), (43, 100, 43), (100, 100, 100), (u64::MAX, 100, 100), (0, 0, 100)]
        {
            assert_eq!(context_percent(used, window), percent, "{used}/{window}");
        }
    }

    #[test]
    fn huge_counts_add_up_without_overflow() {
        let huge = Usage { input: u64::MAX, output: 1, ..Usage::default() };
        assert_eq!(huge.plus(&huge).context_tokens(), u64::MAX);
    }
}
