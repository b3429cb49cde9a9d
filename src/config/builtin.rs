//! The providers that are known without a configuration.
//!
//! The model tables are a start, not a limit: any other id works with [`assumed_limits`], and config.json
//! overrides every figure. This is the only such table: clients and lists of models ask here.

use super::schema::Api;
use crate::conversation::gear::Gear;
use crate::conversation::model::ModelLimits;

/// Tokens assumed for a model that nobody described.
pub const DEFAULT_WINDOW: u32 = 128_000;
/// Reply tokens assumed for a model that nobody described.
pub const DEFAULT_MAX_TOKENS: u32 = 16_384;

/// Tokens assumed for a model of a server on this machine: longer prompts would be cut without a word
/// unless it was started for more.
const LOCAL_WINDOW: u32 = 8_192;

/// The stand-in for a model that is part of the binary.
pub const OFFLINE: &str = "offline";

/// A built-in provider.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Builtin {
    pub name: &'static str,
    pub api: Api,
    pub base_url: &'static str,
    /// The variable that holds its key; `None` needs none.
    pub key_env: Option<&'static str>,
    pub models: &'static [BuiltinModel],
}

/// A model of a built-in provider. Prices change too often to be built in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BuiltinModel {
    pub id: &'static str,
    pub context_window: u32,
    pub max_tokens: u32,
    pub thinking: &'static [Gear],
    pub thinking_off_allowed: bool,
    pub images: bool,
}

const LOW_TO_HIGH: &[Gear] = &[Gear::Low, Gear::Medium, Gear::High];
const MINIMAL_TO_HIGH: &[Gear] = &[Gear::Minimal, Gear::Low, Gear::Medium, Gear::High];

const fn model(
    id: &'static str,
    context_window: u32,
    max_tokens: u32,
    thinking: &'static [Gear],
    thinking_off_allowed: bool,
    images: bool,
) -> BuiltinModel {
    BuiltinModel { id, context_window, max_tokens, thinking, thinking_off_allowed, images }
}

/// The table, in the order in which it is shown.
pub const BUILTIN: &[Builtin] = &[
    Builtin {
        name: OFFLINE,
        api: Api::Offline,
        base_url: "",
        key_env: None,
        models: &[model("demo", 32_768, 4_096, &[], false, false)],
    },
    Builtin {
        name: "openai",
        api: Api::OpenaiChat,
        base_url: "https://api.openai.com/v1",
        key_env: Some("OPENAI_API_KEY"),
        models: &[
            model("gpt-5", 400_000, 128_000, MINIMAL_TO_HIGH, false, true),
            model("gpt-5-mini", 400_000, 128_000, MINIMAL_TO_HIGH, false, true),
            model("gpt-4.1", 1_047_576, 32_768, &[], false, true),
        ],
    },
    Builtin {
        name: "anthropic",
        api: Api::Anthropic,
        base_url: "https://api.anthropic.com",
        key_env: Some("ANTHROPIC_API_KEY"),
        models: &[
            model("claude-opus-4-1", 200_000, 32_000, LOW_TO_HIGH, true, true),
            model("claude-sonnet-4-5", 200_000, 64_000, LOW_TO_HIGH, true, true),
            model("claude-haiku-4-5", 200_000, 64_000, LOW_TO_HIGH, true, true),
        ],
    },
    Builtin {
        name: "gemini",
        api: Api::Gemini,
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        key_env: Some("GEMINI_API_KEY"),
        models: &[
            model("gemini-2.5-pro", 1_048_576, 65_536, LOW_TO_HIGH, false, true),
            model("gemini-2.5-flash", 1_048_576, 65_536, LOW_TO_HIGH, true, true),
        ],
    },
    Builtin {
        name: "openrouter",
        api: Api::OpenaiChat,
        base_url: "https://openrouter.ai/api/v1",
        key_env: Some("OPENROUTER_API_KEY"),
        models: &[],
    },
    Builtin {
        name: "deepseek",
        api: Api::OpenaiChat,
        base_url: "https://api.deepseek.com/v1",
        key_env: Some("DEEPSEEK_API_KEY"),
        models: &[
            model("deepseek-chat", 128_000, 8_192, &[], false, false),
            model("deepseek-reasoner", 128_000, 65_536, &[], false, false),
        ],
    },
    Builtin {
        name: "ollama",
        api: Api::OpenaiChat,
        base_url: "http://127.0.0.1:11434/v1",
        key_env: None,
        models: &[],
    },
];

/// Returns the built-in provider of that name.
pub fn find(name: &str) -> Option<&'static Builtin> {
    BUILTIN.iter().find(|builtin| builtin.name == name)
}

/// Returns the limits assumed for a model of this provider that nobody described.
pub fn assumed_limits(provider: &str) -> ModelLimits {
    let context_window = if provider == "ollama" { LOCAL_WINDOW } else { DEFAULT_WINDOW };
    ModelLimits { context_window, max_tokens: Some(DEFAULT_MAX_TOKENS.min(context_window / 2)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_usable_as_it_is() {
        for provider in BUILTIN {
            assert_eq!(find(provider.name), Some(provider));
            for model in provider.models {
                assert!(model.max_tokens < model.context_window, "{}", model.id);
            }
            let limits = assumed_limits(provider.name);
            assert!(limits.max_tokens.is_some_and(|most| most < limits.context_window));
        }
        assert_eq!(find("nobody"), None);
    }
}
