//! From the text of config.json to its values, or to one line that says what is wrong and where.
//!
//! Error texts never repeat a value of a text key: it may be a secret (case X15).

use serde_json::Value;

use super::schema::Config;
use crate::base::text::near::nearest;

/// Something that does not stop crystal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The key's path, such as `retry.atempts`.
    pub key: String,
    pub what: String,
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "config.json: {}: {}", self.key, self.what)
    }
}

/// Why a text is not a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("config.json: line {line}, column {column}: {what}")]
    Syntax { line: usize, column: usize, what: String },
    #[error("config.json: {key}: {what}")]
    Value { key: String, what: String },
}

/// Reads the text of a config.json. Nothing in it is what an empty text is: all defaults.
pub fn parse(text: &str) -> Result<(Config, Vec<Warning>), ConfigError> {
    from_value(&parse_value(text)?)
}

/// Reads the text as JSON: an object, whose keys are not yet looked at.
pub fn parse_value(text: &str) -> Result<Value, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let whole = error.to_string();
        let what = whole.split(" at line ").next().unwrap_or(&whole).to_owned();
        ConfigError::Syntax { line: error.line(), column: error.column(), what }
    })?;
    if value.is_object() {
        return Ok(value);
    }
    let what = format!("must be an object in braces (got {})", kind_of(&value));
    Err(ConfigError::Syntax { line: 1, column: 1, what })
}

/// Reads the values of a configuration.
pub fn from_value(value: &Value) -> Result<(Config, Vec<Warning>), ConfigError> {
    let config: Config = serde_path_to_error::deserialize(value).map_err(|error| {
        let key = error.path().to_string();
        let found = value_at(value, &key);
        let what = say_type(&error.into_inner().to_string(), found);
        ConfigError::Value { key, what }
    })?;
    config.check().map_err(|(key, what)| ConfigError::Value { key, what })?;
    let mut warnings = Vec::new();
    unknown_keys(value, &mut warnings);
    risky_rules(&config, &mut warnings);
    Ok((config, warnings))
}

fn value_at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').filter(|part| !part.is_empty()).try_fold(value, |value, part| {
        match part.split_once('[') {
            None => value.get(part),
            Some((name, index)) => {
                value.get(name)?.get(index.trim_end_matches(']').parse::<usize>().ok()?)
            }
        }
    })
}

/// Serde's message in the words of a person, without repeating a text.
fn say_type(message: &str, found: Option<&Value>) -> String {
    if let Some(field) = message.strip_prefix("missing field ") {
        return format!("needs {}", field.replace('`', ""));
    }
    let got = found.map_or_else(String::new, |value| format!(" (got {})", kind_of(value)));
    if let Some((_, expected)) = message.split_once("expected ") {
        let is_choice = message.starts_with("unknown variant");
        let expected = match expected.strip_prefix("one of ") {
            Some(names) => format!("one of {}", names.replace('`', "")),
            None if is_choice => expected.replace('`', ""),
            None => say_expected(expected),
        };
        let got = match found {
            // The names of choices are no secrets.
            Some(Value::String(text)) if is_choice => format!(" (got {text})"),
            _ => got,
        };
        return format!("must be {expected}{got}");
    }
    format!("has a wrong value{got}")
}

fn say_expected(expected: &str) -> String {
    match expected {
        "u32" | "u64" => "a whole number, at least 0".to_owned(),
        "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" | "string or map" => "a text".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "an object".to_owned(),
        other if other.starts_with("struct ") => "an object".to_owned(),
        other => other.to_owned(),
    }
}

fn kind_of(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(_) => "a text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// Compares the text's keys with those that the schema knows.
fn unknown_keys(value: &Value, warnings: &mut Vec<Warning>) {
    let schema = super::schema::json_schema();
    walk(value, &schema, &schema, "", warnings);
}

fn walk(value: &Value, schema: &Value, root: &Value, path: &str, warnings: &mut Vec<Warning>) {
    let schema = resolve(schema, root);
    match value {
        Value::Object(object) => {
            let known = schema.get("properties").and_then(Value::as_object);
            let others = schema.get("additionalProperties").filter(|others| others.is_object());
            for (name, child) in object {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                match known.and_then(|known| known.get(name)).or(others) {
                    Some(schema) => walk(child, schema, root, &path, warnings),
                    // An editor's pointer to the schema is no mistake.
                    None if path == "$schema" => {}
                    None => warnings.push(unknown(name, path, known)),
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if let Some(schema) = schema.get("items") {
                    walk(item, schema, root, &format!("{path}[{index}]"), warnings);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn unknown(name: &str, key: String, known: Option<&serde_json::Map<String, Value>>) -> Warning {
    let names = known.into_iter().flat_map(|known| known.keys().map(String::as_str));
    let what = match nearest(name, names) {
        Some(near) => format!("is not a known key and is kept; did you mean {near}?"),
        None => "is not a known key and is kept".to_owned(),
    };
    Warning { key, what }
}

/// Follows references, and the one real schema of an optional value.
fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let target = name.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return target.map_or(schema, |target| resolve(target, root));
    }
    let is_real = |schema: &&Value| schema.get("type").and_then(Value::as_str) != Some("null");
    match schema.get("anyOf").and_then(Value::as_array).and_then(|any| any.iter().find(is_real)) {
        Some(real) => resolve(real, root),
        None => schema,
    }
}

fn risky_rules(config: &Config, warnings: &mut Vec<Warning>) {
    for (index, rule) in config.rules().allow.iter().enumerate() {
        if let Some(what) = crate::approval::decision::warning_for_rule(rule) {
            warnings.push(Warning {
                key: format!("approvals.allow[{index}]"),
                what: format!("{rule}: {what}"),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn nothing_is_all_defaults() {
        for text in ["", " \n", "{}", "\u{feff}{}", "\u{feff}"] {
            assert_eq!(parse(text), Ok((Config::default(), vec![])), "{text:?}");
        }
    }

    #[test]
    fn a_wrong_value_is_named_by_its_key() {
        for (text, message) in [
            (
                r#"{"microCompaction": {"protectTurns": 0}}"#,
                "config.json: microCompaction.protectTurns: must be at least 1 (got 0)",
            ),
            (
                r#"{"microCompaction": {"protectTokens": -1}}"#,
                "config.json: microCompaction.protectTokens: must be a whole number, at least 0 (got -1)",
            ),
            (
                r#"{"compactionThreshold": 1.5}"#,
                "config.json: compactionThreshold: must be from 0 to 1 (got 1.5)",
            ),
            (r#"{"theme": 3}"#, "config.json: theme: must be a text (got 3)"),
            (
                r#"{"showCompactionSummary": "yes"}"#,
                "config.json: showCompactionSummary: must be true or false (got a text)",
            ),
            (r#"{"mode": "look"}"#, "config.json: mode: must be plan or work (got look)"),
            (
                r#"{"approvals": {"allow": "bash"}}"#,
                "config.json: approvals.allow: must be a list (got a text)",
            ),
            (
                r#"{"approvals": {"deny": ["bash(ls"]}}"#,
                "config.json: approvals.deny[0]: bash(ls has no closing parenthesis",
            ),
            (
                r#"{"providers": {"x": {"models": {"m": {}}}}}"#,
                "config.json: providers.x.models.m: needs contextWindow",
            ),
            (
                r#"{"retry": {"attempts": 0}}"#,
                "config.json: retry.attempts: must be at least 1 (got 0)",
            ),
            (
                r#"{"mcpServers": {"a": {}}}"#,
                "config.json: mcpServers.a: must have either command or url",
            ),
            ("[]", "config.json: line 1, column 1: must be an object in braces (got a list)"),
            ("{\n  \"theme\": ,\n}", "config.json: line 2, column 12: expected value"),
        ] {
            assert_eq!(error(text), message);
        }
        let policy = error(r#"{"approvals": {"policy": "yolo"}}"#);
        assert!(
            policy.starts_with("config.json: approvals.policy: must be one of read-only, ask"),
            "{policy}"
        );
    }

    // X15: an error on the key's line does not show the key.
    #[test]
    fn an_error_does_not_repeat_a_secret() {
        for text in [
            r#"{"providers": {"x": {"apiKey": ["sk-TEST-CANARY"]}}}"#,
            r#"{"providers": {"x": {"apiKey": "sk-TEST-CANARY}}}"#,
            r#"{"providers": {"x": "sk-TEST-CANARY"}}"#,
            r#"{"providers": {"x": {"baseUrl": "ftp://u:sk-TEST-CANARY@h"}}}"#,
            r#"{"retry": "sk-TEST-CANARY"}"#,
        ] {
            assert!(!error(text).contains("CANARY"), "{}", error(text));
        }
        let (config, _) = parse(r#"{"providers": {"x": {"apiKey": "sk-TEST-CANARY"}}}"#).unwrap();
        assert!(!format!("{config:?}").contains("CANARY"));
    }

    #[test]
    fn unknown_keys_are_warned_about_with_the_nearest_name() {
        for (text, key, what) in [
            (r#"{"thme": "x"}"#, "thme", "is not a known key and is kept; did you mean theme?"),
            (r#"{"zzzzzzzz": 1}"#, "zzzzzzzz", "is not a known key and is kept"),
            (
                r#"{"retry": {"atempts": 3}}"#,
                "retry.atempts",
                "is not a known key and is kept; did you mean attempts?",
            ),
            (
                r#"{"microCompaction": {"protectTurn": 3}}"#,
                "microCompaction.protectTurn",
                "is not a known key and is kept; did you mean protectTurns?",
            ),
            (
                r#"{"providers": {"a": {"baseURL": "https://x"}}}"#,
                "providers.a.baseURL",
                "is not a known key and is kept",
            ),
        ] {
            let (_, warnings) = parse(text).unwrap();
            assert_eq!(warnings.len(), 1, "{text}");
            assert_eq!(warnings[0].key, key);
            assert!(warnings[0].what.starts_with(what), "{}", warnings[0].what);
        }
        assert_eq!(parse(r#"{"$schema": "x", "keys": {"a": "b"}}"#).unwrap().1, []);
    }

    #[test]
    fn plain_http_is_for_this_machine() {
        let url = |url: &str| {
            parse(&format!(r#"{{"providers": {{"x": {{"baseUrl": "{url}"}}}}}}"#)).is_ok()
        };
        for good in [
            "https://a.b/v1",
            "http://localhost:11434/v1",
            "http://127.0.0.1/v1",
            "http://[::1]:8080",
        ] {
            assert!(url(good), "{good}");
        }
        for bad in [
            "http://a.b/v1",
            "http://localhost.evil.com",
            "http://localhost@evil.com",
            "a.b",
            "https://",
        ] {
            assert!(!url(bad), "{bad}");
        }
    }
}
