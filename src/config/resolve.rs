//! Which model answers, what it can do and where it is reached.
//!
//! The environment is looked up through a function that the caller gives.

use std::collections::BTreeMap;

use super::builtin::{self, BUILTIN, Builtin, DEFAULT_MAX_TOKENS, DEFAULT_WINDOW};
use super::schema::{Api, Config, Model, Provider, SideModel, Timeouts};
use crate::base::secret::Secret;
use crate::base::text::near::nearest;
use crate::conversation::gear::Gear;
use crate::conversation::model::{ModelChoice, ModelLimits, ModelSpec};

/// How a provider is reached: the configuration's values over the built-in ones.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderSettings {
    pub name: String,
    pub api: Api,
    pub base_url: String,
    /// The variable that holds the key, for messages.
    pub api_key_env: Option<String>,
    pub api_key: Option<Secret>,
    /// Values may be secret.
    pub headers: Vec<(String, Secret)>,
    pub timeouts: Timeouts,
    pub allow_insecure: bool,
    pub models: BTreeMap<String, Model>,
}

/// A model that can be asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    pub choice: ModelChoice,
    pub spec: ModelSpec,
    pub provider: ProviderSettings,
    /// What to tell the person: assumed limits, a missing key.
    pub hints: Vec<String>,
}

/// Why no model was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    #[error("{name} is not a known provider; {hint}")]
    UnknownProvider { name: String, hint: String },
    #[error("providers.{name}: needs {key}")]
    Incomplete { name: String, key: &'static str },
    #[error("must be PROVIDER/MODEL, such as anthropic/claude-sonnet-4-5 (got {got})")]
    NotAModel { got: String },
}

/// Looks a variable of the environment up.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Reads `PROVIDER/MODEL`; a model's id may itself hold slashes.
pub fn parse_model(text: &str) -> Result<(String, String), ResolveError> {
    match text.split_once('/') {
        Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
            Ok((provider.to_owned(), model.to_owned()))
        }
        Some(_) | None => Err(ResolveError::NotAModel { got: text.to_owned() }),
    }
}

/// The session's model as the configuration says.
pub fn session_model(config: &Config) -> ModelChoice {
    ModelChoice {
        provider: config.provider.clone(),
        id: config.model.clone(),
        thinking_effort: config.thinking_effort,
    }
}

/// A side model's choice, if it is on.
pub fn side_model(side: Option<&SideModel>) -> Option<ModelChoice> {
    side.filter(|side| side.enabled).map(|side| ModelChoice {
        provider: side.provider.clone(),
        id: side.model.clone(),
        thinking_effort: side.thinking_effort,
    })
}

/// The names of all providers that can be chosen: configured ones first.
pub fn provider_names(config: &Config) -> Vec<&str> {
    let mut names: Vec<&str> = config.providers.keys().map(String::as_str).collect();
    for builtin in BUILTIN {
        if !names.contains(&builtin.name) {
            names.push(builtin.name);
        }
    }
    names
}

/// Finds a chosen model and its provider.
pub fn resolve(
    config: &Config,
    choice: &ModelChoice,
    env: Lookup<'_>,
) -> Result<Resolved, ResolveError> {
    let provider = provider_settings(config, &choice.provider, env)?;
    let mut hints = Vec::new();
    let model = provider.models.get(&choice.id).cloned().unwrap_or_else(|| {
        hints.push(format!(
            "{} is not described: {DEFAULT_WINDOW} tokens of window and {DEFAULT_MAX_TOKENS} of \
             reply are assumed. Set providers.{}.models.{}.contextWindow if that is wrong.",
            choice.label(),
            choice.provider,
            choice.id
        ));
        assumed_model()
    });
    if let (None, Some(variable)) = (&provider.api_key, &provider.api_key_env) {
        hints.push(format!("no key for {}: set {variable}", provider.name));
    }
    let spec = ModelSpec {
        provider: choice.provider.clone(),
        id: choice.id.clone(),
        limits: ModelLimits { context_window: model.context_window, max_tokens: model.max_tokens },
        thinking_off_allowed: model.thinking_off_allowed || model.thinking.contains(&Gear::Off),
        gears: model
            .thinking
            .iter()
            .copied()
            .filter(|gear| !matches!(gear, Gear::Default | Gear::Off))
            .collect(),
        images: model.images,
        price: model.price,
    };
    Ok(Resolved { choice: choice.clone(), spec, provider, hints })
}

fn assumed_model() -> Model {
    Model {
        context_window: DEFAULT_WINDOW,
        max_tokens: Some(DEFAULT_MAX_TOKENS),
        thinking: Vec::new(),
        thinking_off_allowed: false,
        images: false,
        price: None,
    }
}

/// One provider's settings: the configuration's over the built-in ones.
pub fn provider_settings(
    config: &Config,
    name: &str,
    env: Lookup<'_>,
) -> Result<ProviderSettings, ResolveError> {
    let builtin = builtin::find(name);
    let Some(own) = config.providers.get(name).cloned().or(builtin.map(|_| Provider::default()))
    else {
        let names = provider_names(config);
        let hint = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("known are {}", names.join(", ")),
        };
        return Err(ResolveError::UnknownProvider { name: name.to_owned(), hint });
    };
    let incomplete = |key| ResolveError::Incomplete { name: name.to_owned(), key };
    let api = own.api.or(builtin.map(|b| b.api)).ok_or_else(|| incomplete("api"))?;
    let base_url = match own.base_url.or(builtin.map(|b| b.base_url.to_owned())) {
        Some(url) => url,
        None if api == Api::Offline => String::new(),
        None => return Err(incomplete("baseUrl")),
    };
    let built_in_env = builtin.and_then(|b| b.key_env).map(str::to_owned);
    let api_key_env = own.api_key_env.or(built_in_env);
    let from_env = || api_key_env.as_deref().and_then(env).filter(|key| !key.trim().is_empty());
    let api_key = own.api_key.or_else(from_env).map(|key| Secret::new(key.trim()));
    let mut models = builtin.map(builtin_models).unwrap_or_default();
    models.extend(own.models);
    Ok(ProviderSettings {
        name: name.to_owned(),
        api,
        base_url: base_url.trim_end_matches('/').to_owned(),
        api_key_env,
        api_key,
        headers: own.headers.into_iter().map(|(name, value)| (name, Secret::new(value))).collect(),
        timeouts: own.timeouts.unwrap_or_default(),
        allow_insecure: own.allow_insecure.unwrap_or(false),
        models,
    })
}

fn builtin_models(builtin: &Builtin) -> BTreeMap<String, Model> {
    let model = |model: &builtin::BuiltinModel| Model {
        context_window: model.context_window,
        max_tokens: Some(model.max_tokens),
        thinking: model.thinking.to_vec(),
        thinking_off_allowed: model.thinking_off_allowed,
        images: model.images,
        price: None,
    };
    builtin.models.iter().map(|m| (m.id.to_owned(), model(m))).collect()
}

/// Every secret that the configuration or the environment holds, for redaction.
pub fn secrets(config: &Config, env: Lookup<'_>) -> Vec<Secret> {
    let mut secrets = Vec::new();
    for name in provider_names(config) {
        if let Ok(provider) = provider_settings(config, name, env) {
            secrets.extend(provider.api_key);
            secrets.extend(provider.headers.into_iter().map(|(_, value)| value));
        }
    }
    for server in config.mcp_servers.values() {
        secrets.extend(server.headers.values().map(Secret::new));
    }
    secrets
}

/// The variables that hold keys: taken out of a command's environment.
pub fn key_variables(config: &Config) -> Vec<String> {
    let own = config.providers.values().filter_map(|provider| provider.api_key_env.clone());
    let built_in = BUILTIN.iter().filter_map(|b| b.key_env.map(str::to_owned));
    let mut names: Vec<String> = built_in.chain(own).collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse::parse;

    fn no_env(_: &str) -> Option<String> {
        None
    }

    fn choose(text: &str, model: &str, env: Lookup<'_>) -> Result<Resolved, ResolveError> {
        let (provider, id) = parse_model(model)?;
        let choice = ModelChoice { provider, id, thinking_effort: Gear::Default };
        resolve(&parse(text).unwrap().0, &choice, env)
    }

    #[test]
    fn without_a_configuration_the_stand_in_answers() {
        let config = Config::default();
        let resolved = resolve(&config, &session_model(&config), &no_env).unwrap();
        assert_eq!(resolved.choice.label(), "offline/demo");
        assert_eq!(resolved.provider.api, Api::Offline);
        assert_eq!(resolved.hints, Vec::<String>::new());
    }

    #[test]
    fn a_key_in_the_environment_is_enough() {
        let env = |name: &str| (name == "ANTHROPIC_API_KEY").then(|| "sk-1\n".to_owned());
        let resolved = choose("", "anthropic/claude-sonnet-4-5", &env).unwrap();
        assert_eq!(resolved.provider.api_key, Some(Secret::new("sk-1")));
        assert_eq!(resolved.spec.limits.context_window, 200_000);
        assert_eq!(resolved.hints, Vec::<String>::new());
    }

    #[test]
    fn an_unknown_model_works_with_stated_limits() {
        let resolved = choose("", "openrouter/a/b", &no_env).unwrap();
        assert_eq!(resolved.choice.id, "a/b");
        assert_eq!(
            resolved.spec.limits,
            ModelLimits { context_window: 128_000, max_tokens: Some(16_384) }
        );
        assert!(resolved.hints[0].contains("128000 tokens"), "{:?}", resolved.hints);
        assert!(resolved.hints[1].contains("OPENROUTER_API_KEY"), "{:?}", resolved.hints);
    }

    #[test]
    fn the_configuration_overrides_a_built_in_provider() {
        let text = r#"{"providers": {"openai": {"api": "openai-chat", "baseUrl": "https://x/v1/", "apiKey": "k",
            "models": {"m": {"contextWindow": 1000, "thinking": ["off", "low"]}}}}}"#;
        let resolved = choose(text, "openai/m", &no_env).unwrap();
        assert_eq!(
            (resolved.provider.api, resolved.provider.base_url.as_str()),
            (Api::OpenaiChat, "https://x/v1")
        );
        assert_eq!(
            (resolved.spec.gears.as_slice(), resolved.spec.thinking_off_allowed),
            (&[Gear::Low][..], true)
        );
        assert!(resolved.provider.models.contains_key("gpt-5"));
    }

    #[test]
    fn what_cannot_be_found_is_named() {
        for (text, model, message) in [
            ("", "antropic/x", "antropic is not a known provider; did you mean anthropic?"),
            (
                "",
                "zzzzzzzzz/x",
                "zzzzzzzzz is not a known provider; known are offline, openai, anthropic, gemini, openrouter, deepseek, ollama",
            ),
            ("", "gpt", "must be PROVIDER/MODEL, such as anthropic/claude-sonnet-4-5 (got gpt)"),
            (r#"{"providers": {"x": {}}}"#, "x/y", "providers.x: needs api"),
            (r#"{"providers": {"x": {"api": "gemini"}}}"#, "x/y", "providers.x: needs baseUrl"),
        ] {
            assert_eq!(choose(text, model, &no_env).unwrap_err().to_string(), message);
        }
    }
}
