//! Arguments of a call, checked field by field.
//!
//! Invariant: a wrong argument is an error that names the field, what it must be, and what came.

use serde_json::{Map, Value};

use super::{Refusal, SENT_CHARS_MAX, Tool};
use crate::base::text::cut;
use crate::conversation::message::ToolUse;

/// The arguments object of one call.
pub(super) struct Arguments<'a> {
    tool: &'a dyn Tool,
    object: &'a Map<String, Value>,
}

impl<'a> Arguments<'a> {
    pub(super) fn of(tool: &'a dyn Tool, call: &'a ToolUse) -> Result<Self, Refusal> {
        match &call.input {
            Value::Object(object) => Ok(Self { tool, object }),
            other => Err(Refusal::new(format!(
                "{}: the arguments must be a JSON object; nothing ran. Sent: {}\nRequired: {}",
                tool.name(),
                shortened(other),
                required(&tool.parameters())
            ))),
        }
    }

    pub(super) fn text(&self, field: &str) -> Result<&'a str, Refusal> {
        self.text_if_any(field)?.ok_or_else(|| self.missing(field, "a string"))
    }

    pub(super) fn text_if_any(&self, field: &str) -> Result<Option<&'a str>, Refusal> {
        match self.value(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(field, "a string", other)),
        }
    }

    /// A whole number within `range`; `2.0` counts as 2.
    pub(super) fn count_if_any(
        &self,
        field: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<Option<u64>, Refusal> {
        let Some(value) = self.value(field) else { return Ok(None) };
        let number = value.as_u64().or_else(|| {
            let float = value.as_f64()?;
            (float >= 0.0 && float.fract() == 0.0 && float < 9.0e15).then_some(float as u64)
        });
        match number {
            Some(number) if range.contains(&number) => Ok(Some(number)),
            Some(_) | None => {
                let wanted = match (*range.start(), *range.end()) {
                    (low, u64::MAX) => format!("a whole number from {low}"),
                    (low, high) => format!("a whole number from {low} to {high}"),
                };
                Err(self.wrong(field, &wanted, value))
            }
        }
    }

    pub(super) fn flag(&self, field: &str) -> Result<bool, Refusal> {
        match self.value(field) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(self.wrong(field, "true or false", other)),
        }
    }

    pub(super) fn list(&self, field: &str, of_what: &str) -> Result<&'a [Value], Refusal> {
        let wanted = format!("an array of {of_what}");
        match self.value(field) {
            None => Err(self.missing(field, &wanted)),
            Some(Value::Array(items)) => Ok(items),
            Some(other) => Err(self.wrong(field, &wanted, other)),
        }
    }

    /// An item of a list as arguments of its own.
    pub(super) fn inner(&self, item: &'a Value, shown: &str) -> Result<Self, Refusal> {
        match item {
            Value::Object(object) => Ok(Self { tool: self.tool, object }),
            other => Err(self.wrong(shown, "an object", other)),
        }
    }

    pub(super) fn wrong(&self, field: &str, wanted: &str, got: &Value) -> Refusal {
        Refusal::new(format!(
            "{}: `{field}` must be {wanted}; nothing ran. Got: {}\nRequired: {}",
            self.tool.name(),
            shortened(got),
            required(&self.tool.parameters())
        ))
    }

    fn missing(&self, field: &str, wanted: &str) -> Refusal {
        let sent = Value::Object(self.object.clone());
        Refusal::new(format!(
            "{}: `{field}` is missing ({wanted}); nothing ran. If the output limit cut the call, send it \
             again in smaller parts. Sent: {}\nRequired: {}",
            self.tool.name(),
            shortened(&sent),
            required(&self.tool.parameters())
        ))
    }

    /// The field's value; `null` counts as absent.
    fn value(&self, field: &str) -> Option<&'a Value> {
        self.object.get(field).filter(|value| !value.is_null())
    }
}

/// Names the required fields of a schema with their types.
pub(super) fn required(schema: &Value) -> String {
    let names = schema.get("required").and_then(Value::as_array);
    let named: Vec<String> = names
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|name| match schema["properties"][name]["type"].as_str() {
            Some(kind) => format!("{name} ({kind})"),
            None => name.to_owned(),
        })
        .collect();
    if named.is_empty() { "nothing".to_owned() } else { named.join(", ") }
}

fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SENT_CHARS_MAX) {
        None => text,
        Some(_) => format!("{} […]", cut::chars(&text, SENT_CHARS_MAX)),
    }
}
