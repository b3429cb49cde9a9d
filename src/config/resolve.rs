//! Which model answers, what it can do and where it is reached.
//!
//! The environment is looked up through a function that the caller gives.

use std::collections::BTreeMap;

use super::builtin::{self, BUILTIN, Builtin};
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
    #[error(
        "provider {name}: the key in {place} holds a line break or a control or non-ASCII character; copy it again"
    )]
    MalformedKey { name: String, place: String },
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
        let limits = builtin::assumed_limits(&choice.provider);
        hints.push(format!(
            "{} is not described: {} tokens of window and {} of reply are assumed. \
             Set providers.{}.models.{}.contextWindow if that is wrong.",
            choice.label(),
            limits.context_window,
            limits.max_tokens.unwrap_or_default(),
            choice.provider,
            choice.id
        ));
        assumed_model(limits)
    });
    if let (None, Some(variable)) = (&provider.api_key, &provider.api_key_env) {
        let name = &provider.name;
        hints.push(format!(
            "no key for {name}: set {variable}, or providers.{name}.apiKey in config.json"
        ));
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

fn assumed_model(limits: ModelLimits) -> Model {
    Model {
        context_window: limits.context_window,
        max_tokens: limits.max_tokens,
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
    let api_key = key(name, own.api_key, api_key_env.as_deref(), env)?;
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

/// The one place that reads a key: the configured one, else the variable's value, else none.
///
/// X15: one that no header can carry is refused, and no error holds a part of it.
fn key(
    provider: &str,
    configured: Option<String>,
    variable: Option<&str>,
    env: Lookup<'_>,
) -> Result<Option<Secret>, ResolveError> {
    let (text, place) = match (configured, variable) {
        (Some(text), _) => (text, format!("providers.{provider}.apiKey")),
        (None, Some(variable)) => match env(variable) {
            Some(text) => (text, variable.to_owned()),
            None => return Ok(None),
        },
        (None, None) => return Ok(None),
    };
    // A key that was copied with the line break after it is meant without it.
    let text = text.trim();
    if !text.chars().all(|c| c == ' ' || c.is_ascii_graphic()) {
        return Err(ResolveError::MalformedKey { name: provider.to_owned(), place });
    }
    Ok((!text.is_empty()).then(|| Secret::new(text)))
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
        // As written too: a key that is refused is still not to be shown.
        let own = config.providers.get(name);
        let variable = own.and_then(|own| own.api_key_env.as_deref());
        let variable = variable.or(builtin::find(name).and_then(|builtin| builtin.key_env));
        let written = own.and_then(|own| own.api_key.clone());
        let keys = written.into_iter().chain(variable.and_then(env));
        secrets.extend(keys.map(|key| Secret::new(key.trim())));
        let headers = own.into_iter().flat_map(|own| own.headers.values());
        secrets.extend(headers.map(Secret::new));
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

    // X15
    #[test]
    fn a_key_that_no_header_can_carry_is_refused_and_not_printed() {
        for broken in ["sk-CAN\nARY", "sk-CANARY\u{7f}x", "sk-CANARYé", "sk-CAN\0ARY", "sk\tCANARY"]
        {
            let env = |name: &str| (name == "OPENAI_API_KEY").then(|| broken.to_owned());
            let error = choose("", "openai/gpt-5", &env).unwrap_err();
            let text = format!("{error} {error:?}");
            assert!(text.contains("OPENAI_API_KEY") && !text.contains("CAN"), "{text}");
            let config =
                serde_json::json!({"providers": {"openai": {"apiKey": broken}}}).to_string();
            let error = choose(&config, "openai/gpt-5", &no_env).unwrap_err();
            let text = format!("{error} {error:?}");
            assert!(text.contains("providers.openai.apiKey") && !text.contains("CAN"), "{text}");
            let secrets = secrets(&parse(&config).unwrap().0, &no_env);
            assert!(secrets.contains(&Secret::new(broken)));
        }
        let env = |name: &str| (name == "OPENAI_API_KEY").then(|| " \n".to_owned());
        assert_eq!(choose("", "openai/gpt-5", &env).unwrap().provider.api_key, None);
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
