//! The built-in providers and a small table of their models, as plain data.
//!
//! Prices and windows change without notice: a configuration's `models.ID` overrides each line, and a model
//! that is not here works with [`UNKNOWN_MODEL`] or its provider's own default. Not here: which are configured.

use super::Api;
use crate::conversation::gear::Gear;
use crate::conversation::model::{ModelLimits, ModelSpec, Price};

/// The name of the built-in stand-in, and of its model.
pub const OFFLINE: &str = "offline";
pub const DEMO: &str = "demo";

/// A provider that is known without configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Provider {
    pub name: &'static str,
    pub api: Api,
    pub base_url: &'static str,
    /// The environment variable with the key; `None` if it needs none.
    pub key_variable: Option<&'static str>,
    /// The first is the one to offer.
    pub models: &'static [Model],
    /// Stated for a model that is not in the table.
    pub unknown: Model,
}

/// A line of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    pub id: &'static str,
    pub context_window: u32,
    pub max_tokens: Option<u32>,
    pub gears: &'static [Gear],
    pub thinking_off_allowed: bool,
    pub images: bool,
    pub price: Option<Price>,
}

/// Modest, so that a request for an unknown model fits; the configuration can say more.
const UNKNOWN_MODEL: Model = Model {
    id: "",
    context_window: 128_000,
    max_tokens: None,
    gears: &[],
    thinking_off_allowed: false,
    images: false,
    price: None,
};

const LOW_TO_HIGH: &[Gear] = &[Gear::Low, Gear::Medium, Gear::High];
const MINIMAL_TO_HIGH: &[Gear] = &[Gear::Minimal, Gear::Low, Gear::Medium, Gear::High];

const fn price(input: f64, cache_read: f64, cache_write: f64, output: f64) -> Price {
    Price { input, output, cache_read, cache_write }
}

const fn model(id: &'static str, context_window: u32, max_tokens: u32) -> Model {
    Model { id, context_window, max_tokens: Some(max_tokens), ..UNKNOWN_MODEL }
}

const OPENAI: &[Model] = &[
    Model {
        gears: MINIMAL_TO_HIGH,
        images: true,
        price: Some(price(1.25, 0.125, 0.0, 10.0)),
        ..model("gpt-5", 400_000, 128_000)
    },
    Model {
        gears: MINIMAL_TO_HIGH,
        images: true,
        price: Some(price(0.25, 0.025, 0.0, 2.0)),
        ..model("gpt-5-mini", 400_000, 128_000)
    },
    Model {
        images: true,
        price: Some(price(2.0, 0.5, 0.0, 8.0)),
        ..model("gpt-4.1", 1_047_576, 32_768)
    },
];

const ANTHROPIC: &[Model] = &[
    Model {
        gears: LOW_TO_HIGH,
        thinking_off_allowed: true,
        images: true,
        price: Some(price(3.0, 0.3, 3.75, 15.0)),
        ..model("claude-sonnet-4-5", 200_000, 64_000)
    },
    Model {
        gears: LOW_TO_HIGH,
        thinking_off_allowed: true,
        images: true,
        price: Some(price(1.0, 0.1, 1.25, 5.0)),
        ..model("claude-haiku-4-5", 200_000, 64_000)
    },
];

const GEMINI: &[Model] = &[
    Model {
        gears: LOW_TO_HIGH,
        images: true,
        price: Some(price(1.25, 0.31, 0.0, 10.0)),
        ..model("gemini-2.5-pro", 1_048_576, 65_536)
    },
    Model {
        gears: LOW_TO_HIGH,
        thinking_off_allowed: true,
        images: true,
        price: Some(price(0.3, 0.075, 0.0, 2.5)),
        ..model("gemini-2.5-flash", 1_048_576, 65_536)
    },
];

const DEEPSEEK: &[Model] = &[
    Model { price: Some(price(0.28, 0.028, 0.0, 0.42)), ..model("deepseek-chat", 128_000, 8_192) },
    Model {
        price: Some(price(0.28, 0.028, 0.0, 0.42)),
        ..model("deepseek-reasoner", 128_000, 65_536)
    },
];

const OPENROUTER: &[Model] = &[
    Model { gears: LOW_TO_HIGH, images: true, ..model("openai/gpt-5", 400_000, 128_000) },
    Model {
        gears: LOW_TO_HIGH,
        thinking_off_allowed: true,
        images: true,
        ..model("anthropic/claude-sonnet-4.5", 200_000, 64_000)
    },
];

/// Every built-in provider.
pub const PROVIDERS: [Provider; 7] = [
    Provider {
        name: "openai",
        api: Api::OpenAiChat,
        base_url: "https://api.openai.com/v1",
        key_variable: Some("OPENAI_API_KEY"),
        models: OPENAI,
        unknown: UNKNOWN_MODEL,
    },
    Provider {
        name: "anthropic",
        api: Api::Anthropic,
        base_url: "https://api.anthropic.com",
        key_variable: Some("ANTHROPIC_API_KEY"),
        models: ANTHROPIC,
        unknown: Model {
            context_window: 200_000,
            // The API refuses a request without a limit; all its models can do this much.
            max_tokens: Some(8_192),
            images: true,
            ..UNKNOWN_MODEL
        },
    },
    Provider {
        name: "gemini",
        api: Api::Gemini,
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        key_variable: Some("GEMINI_API_KEY"),
        models: GEMINI,
        unknown: Model { images: true, ..UNKNOWN_MODEL },
    },
    Provider {
        name: "openrouter",
        api: Api::OpenAiChat,
        base_url: "https://openrouter.ai/api/v1",
        key_variable: Some("OPENROUTER_API_KEY"),
        models: OPENROUTER,
        unknown: UNKNOWN_MODEL,
    },
    Provider {
        name: "deepseek",
        api: Api::OpenAiChat,
        base_url: "https://api.deepseek.com/v1",
        key_variable: Some("DEEPSEEK_API_KEY"),
        models: DEEPSEEK,
        unknown: UNKNOWN_MODEL,
    },
    Provider {
        name: "ollama",
        api: Api::OpenAiChat,
        base_url: "http://127.0.0.1:11434/v1",
        key_variable: None,
        models: &[],
        // Its server cuts longer prompts without a word unless it was told otherwise.
        unknown: Model { context_window: 8_192, ..UNKNOWN_MODEL },
    },
    Provider {
        name: OFFLINE,
        api: Api::Offline,
        base_url: "",
        key_variable: None,
        models: &[Model {
            max_tokens: Some(4_096),
            context_window: 32_000,
            id: DEMO,
            ..UNKNOWN_MODEL
        }],
        unknown: Model { max_tokens: Some(4_096), context_window: 32_000, ..UNKNOWN_MODEL },
    },
];

/// Returns the built-in provider of this name.
pub fn provider(name: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.name == name)
}

/// Whether a model's numbers come from the table or are the stated defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Table,
    Default,
}

impl Provider {
    /// Returns what is known of a model of this provider, and where that comes from.
    pub fn model(&self, id: &str) -> (ModelSpec, Source) {
        match self.models.iter().find(|model| model.id == id) {
            Some(model) => (model.spec(self.name, id), Source::Table),
            None => (self.unknown.spec(self.name, id), Source::Default),
        }
    }
}

impl Model {
    /// The line as the specification of the model `id`.
    pub fn spec(&self, provider: &str, id: &str) -> ModelSpec {
        ModelSpec {
            provider: provider.to_owned(),
            id: id.to_owned(),
            limits: ModelLimits {
                context_window: self.context_window,
                max_tokens: self.max_tokens,
            },
            gears: self.gears.to_vec(),
            thinking_off_allowed: self.thinking_off_allowed,
            images: self.images,
            price: self.price,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_usable_as_it_is() {
        for provider in &PROVIDERS {
            for model in provider.models {
                let (spec, source) = provider.model(model.id);
                assert_eq!(source, Source::Table);
                let max = spec.limits.max_tokens.unwrap();
                assert!(max < spec.limits.context_window, "{}", model.id);
            }
            let (spec, source) = provider.model("something-new");
            assert_eq!((spec.id.as_str(), source), ("something-new", Source::Default));
            assert!(spec.limits.context_window >= 8_192);
        }
        assert_eq!(provider("deepseek").unwrap().key_variable, Some("DEEPSEEK_API_KEY"));
        assert_eq!(provider("nobody"), None);
    }
}
