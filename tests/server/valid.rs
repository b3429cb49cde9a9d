//! What the strictest providers ask of a Chat Completions request.

use serde_json::Value;

/// Returns the first rule that the request breaks.
pub fn chat(body: &Value) -> Result<(), String> {
    if body.get("model").and_then(Value::as_str).is_none_or(str::is_empty) {
        return Err("model is missing".into());
    }
    if let Some(tools) = body.get("tools") {
        tools_are_sane(tools)?;
    }
    let messages = body.get("messages").and_then(Value::as_array).ok_or("messages is missing")?;
    if !messages.iter().any(|message| role(message) != "system") {
        return Err("messages holds nothing to answer".into());
    }
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let fail = |why: &str| Err(format!("messages[{index}]: {why}"));
        let role = role(message);
        if role == "tool" {
            let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
            let Some(place) = open.iter().position(|known| *known == id) else {
                return fail(&format!("the result of {id} answers no open call"));
            };
            open.remove(place);
        } else if !open.is_empty() {
            return fail(&format!("calls without results before it: {open:?}"));
        }
        match role {
            "system" if index != 0 => return fail("system is not the first"),
            "system" | "user" | "tool" if !has_content(message) => return fail("it is empty"),
            "assistant" => {
                open =
                    assistant_calls(message).map_err(|why| format!("messages[{index}]: {why}"))?;
            }
            "system" | "user" | "tool" => {}
            other => return fail(&format!("unknown role {other}")),
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(format!("calls without results at the end: {open:?}"))
    }
}

fn role(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or_default()
}

fn has_content(message: &Value) -> bool {
    match message.get("content") {
        Some(Value::String(text)) => !text.trim().is_empty(),
        Some(Value::Array(parts)) => !parts.is_empty(),
        _ => false,
    }
}

fn assistant_calls(message: &Value) -> Result<Vec<&str>, String> {
    let Some(calls) = message.get("tool_calls") else {
        return if has_content(message) { Ok(vec![]) } else { Err("it is empty".into()) };
    };
    let calls = calls.as_array().filter(|calls| !calls.is_empty()).ok_or("tool_calls is empty")?;
    let mut ids = Vec::new();
    for call in calls {
        let text =
            |value: Option<&'_ Value>| value.and_then(Value::as_str).unwrap_or_default().len();
        let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
        if id.is_empty() || id.len() > 40 || ids.contains(&id) {
            return Err(format!("a call has an empty, long or repeated id: {id}"));
        }
        let function = call.get("function").ok_or("a call has no function")?;
        if text(function.get("name")) == 0 {
            return Err(format!("the call {id} has no name"));
        }
        let arguments = function.get("arguments").and_then(Value::as_str).unwrap_or_default();
        if !serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object()) {
            return Err(format!("the arguments of {id} are not a JSON object"));
        }
        ids.push(id);
    }
    Ok(ids)
}

fn tools_are_sane(tools: &Value) -> Result<(), String> {
    let tools = tools.as_array().filter(|tools| !tools.is_empty()).ok_or("tools is empty")?;
    for tool in tools {
        let function = tool.get("function").ok_or("a tool has no function")?;
        let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_name) {
            return Err(format!("a tool's name is not allowed: {name}"));
        }
        if function.get("parameters").and_then(|p| p.get("type")).and_then(Value::as_str)
            != Some("object")
        {
            return Err(format!("the parameters of {name} are not an object schema"));
        }
    }
    Ok(())
}
