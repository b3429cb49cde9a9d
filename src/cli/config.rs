//! `crystal config`: where, what holds, what is wrong, the schema.

use std::fmt::Write as _;

use serde_json::Value;

use super::args::ConfigAction;
use super::environment::{Environment, Loaded};
use super::error::{ErrorKind, UserError};
use crate::base::secret::REDACTED;
use crate::config::layer::{Row, Source};
use crate::config::resolve;

/// Carries one out; the text goes to stdout.
pub fn run(action: ConfigAction, environment: &Environment) -> Result<String, UserError> {
    match action {
        ConfigAction::Path => Ok(format!("{}\n", environment.config_path().display())),
        ConfigAction::Schema => Ok(format!("{:#}\n", crate::config::schema::json_schema())),
        ConfigAction::Show => {
            Ok(show(&environment.load(&super::args::CommonArgs::default(), None)?))
        }
        ConfigAction::Check => check(environment),
    }
}

fn show(loaded: &Loaded) -> String {
    let rows = loaded.layered.effective();
    let width = rows.iter().map(|row| row.key.chars().count()).max().unwrap_or(0).min(40);
    let mut text = String::new();
    for row in &rows {
        let source = match row.source {
            Source::Default => String::new(),
            other => format!("  ({})", other.name()),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:width$}  {}{source}", row.key, shown(row));
    }
    text
}

/// The value, without what may be secret: keys, header values, variables of tool servers, passwords in
/// addresses.
fn shown(row: &Row) -> String {
    let mut parts = row.key.split('.');
    let is_server_or_provider = matches!(parts.next(), Some("providers" | "mcpServers"));
    let is_secret = is_server_or_provider
        && row.key.split('.').any(|part| matches!(part, "apiKey" | "headers" | "env"))
        && !matches!(&row.value, Value::Object(object) if object.is_empty());
    match &row.value {
        _ if is_secret => REDACTED.to_owned(),
        Value::String(text) if text.contains("://") => redacted_url(text),
        other => other.to_string(),
    }
}

fn redacted_url(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return Value::from(text).to_string() };
    let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, _)| (rest, REDACTED));
    let (authority, path) =
        rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let user = if host.len() < authority.len() { format!("{REDACTED}@") } else { String::new() };
    let path = path.map_or_else(String::new, |path| format!("/{path}"));
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    Value::from(format!("{scheme}://{user}{host}{path}{query}")).to_string()
}

fn check(environment: &Environment) -> Result<String, UserError> {
    let loaded = environment.load(&super::args::CommonArgs::default(), None)?;
    let config = &loaded.layered.config;
    let mut text = String::new();
    for (_, warning) in &loaded.layered.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    let lookup = |name: &str| environment.variable(name);
    let session = resolve::session_model(config);
    let sides = [&config.compaction_model, &config.approval_model, &config.title_model];
    let choices = sides.into_iter().filter_map(|side| resolve::side_model(side.as_ref()));
    for choice in std::iter::once(session).chain(choices) {
        let resolved = resolve::resolve(config, &choice, &lookup).map_err(|error| {
            UserError::new(ErrorKind::Usage, error.to_string()).at("config.json")
        })?;
        for hint in resolved.hints {
            let _ = writeln!(text, "hint: {hint}");
        }
    }
    let path = environment.config_path();
    let verdict = if loaded.exists { "is fine" } else { "does not exist; the defaults hold" };
    let _ = writeln!(text, "{} {verdict}", path.display());
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    // X15
    #[test]
    fn secrets_are_not_shown() {
        for (key, value) in [
            ("providers.x.apiKey", "CANARY"),
            ("providers.x.headers.Authorization", "CANARY"),
            ("mcpServers.x.env.TOKEN", "CANARY"),
            ("providers.x.baseUrl", "https://u:CANARY@h/v1"),
            ("providers.x.baseUrl", "https://h/v1?key=CANARY"),
            ("telemetry.otlpEndpoint", "https://u:CANARY@h"),
        ] {
            let row = Row { key: key.to_owned(), value: value.into(), source: Source::Home };
            let text = shown(&row);
            assert!(!text.contains("CANARY") && text.contains(REDACTED), "{text}");
        }
        let row = Row {
            key: "providers.x.baseUrl".into(),
            value: "https://h/v1".into(),
            source: Source::Home,
        };
        assert_eq!(shown(&row), "\"https://h/v1\"");
    }
}
