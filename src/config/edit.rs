//! Changes one key of config.json's text.
//!
//! Invariant: all other keys keep their place and their value, unknown ones too. The caller re-reads the
//! file before, and writes the result atomically.

use serde_json::{Map, Value};

use super::parse::{self, ConfigError};

/// Returns the text with `path` set to `value`; objects on the way are made.
pub fn set(text: &str, path: &[&str], value: Value) -> Result<String, ConfigError> {
    let mut whole = parse::parse_value(text)?;
    let Some((last, folders)) = path.split_last() else { return Ok(written(&whole)) };
    let mut at = &mut whole;
    for (depth, key) in folders.iter().enumerate() {
        let object = object_of(at, &path[..depth])?;
        at = object.entry((*key).to_owned()).or_insert_with(|| Value::Object(Map::new()));
    }
    object_of(at, folders)?.insert((*last).to_owned(), value);
    parse::from_value(&whole)?;
    Ok(written(&whole))
}

/// Returns the text without `path`; a key that is not there is no error.
pub fn remove(text: &str, path: &[&str]) -> Result<String, ConfigError> {
    let mut whole = parse::parse_value(text)?;
    if let Some((last, folders)) = path.split_last() {
        let folder = folders.iter().try_fold(&mut whole, |value, key| value.get_mut(*key));
        if let Some(object) = folder.and_then(Value::as_object_mut) {
            object.shift_remove(*last);
        }
    }
    parse::from_value(&whole)?;
    Ok(written(&whole))
}

fn object_of<'a>(
    value: &'a mut Value,
    path: &[&str],
) -> Result<&'a mut Map<String, Value>, ConfigError> {
    value.as_object_mut().ok_or_else(|| ConfigError::Value {
        key: path.join("."),
        what: "must be an object".to_owned(),
    })
}

fn written(value: &Value) -> String {
    // Alternate formatting is serde_json's pretty form, which cannot fail for a value.
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_key_changes_and_the_others_stay_in_place() {
        let text = r#"{"zeta": 1, "theme": "a", "microCompaction": {"later": true}}"#;
        let changed = set(text, &["microCompaction", "enabled"], Value::Bool(false)).unwrap();
        assert_eq!(
            changed,
            "{\n  \"zeta\": 1,\n  \"theme\": \"a\",\n  \"microCompaction\": {\n    \"later\": true,\n    \"enabled\": false\n  }\n}\n"
        );
        assert_eq!(remove(&changed, &["theme"]).unwrap().find("theme"), None);
        assert_eq!(remove("{}", &["a", "b"]).unwrap(), "{}\n");
        assert_eq!(set("", &["theme"], "x".into()).unwrap(), "{\n  \"theme\": \"x\"\n}\n");
    }

    #[test]
    fn a_change_that_would_not_load_is_refused() {
        assert!(set("{}", &["theme"], Value::from(3)).is_err());
        assert!(set(r#"{"retry": {}}"#, &["retry", "attempts"], Value::from(0)).is_err());
        assert!(set("{", &["theme"], "x".into()).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn setting_and_removing_a_new_key_changes_nothing(keys in prop::collection::vec("[a-z]{1,5}x", 0..6)) {
            let object: Map<String, Value> = keys.iter().map(|key| (key.clone(), Value::from(1))).collect();
            let before = written(&Value::Object(object));
            let with = set(&before, &["theme"], "t".into()).unwrap();
            prop_assert_eq!(remove(&with, &["theme"]).unwrap(), before);
        }
    }
}
