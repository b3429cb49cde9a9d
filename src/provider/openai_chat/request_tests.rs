use super::*;
use crate::base::id::CallId;
use crate::conversation::message::{Reasoning, Shown, ToolUse};
use crate::conversation::model::{ModelLimits, ModelSpec};
use crate::conversation::round::Purpose;
use crate::conversation::tool_call::ToolSpec;

fn request(messages: Vec<(Role, Vec<Block>)>) -> RoundRequest {
    let messages = messages.into_iter().map(|(role, blocks)| RequestMessage { role, blocks });
    RoundRequest {
        model: ModelSpec {
            provider: "p".into(),
            id: "m".into(),
            limits: ModelLimits { context_window: 8_192, max_tokens: Some(512) },
            gears: vec![Gear::Low, Gear::XHigh],
            thinking_off_allowed: true,
            images: true,
            price: None,
        },
        gear: Gear::Default,
        system: "Be brief.".into(),
        messages: messages.collect(),
        tools: [].into(),
        cache_key: "s1".into(),
        purpose: Purpose::Round,
    }
}

fn sent(request: &RoundRequest) -> Value {
    let pictures = Pictures::from([("ab".to_owned(), vec![1, 2, 3])]);
    body(request, Dialect::Compatible, &pictures)
}

fn call(id: &str) -> Block {
    Block::ToolUse(ToolUse {
        id: CallId::new(id),
        name: "read".into(),
        input: json!({"path": "x"}),
    })
}

fn result(id: &str, content: &str, images: Vec<Image>) -> Block {
    Block::ToolResult(ToolResult {
        tool_use_id: CallId::new(id),
        content: content.into(),
        is_error: false,
        images,
        shown: Shown::default(),
    })
}

fn image(sha256: &str) -> Image {
    Image { sha256: sha256.into(), media_type: "image/png".into(), bytes: 3 }
}

fn thought(provider: &str, model: &str, payload: &str) -> Block {
    Block::Reasoning(Reasoning {
        text: "hm".into(),
        opaque: Some(OpaqueState {
            provider: provider.into(),
            model: model.into(),
            payload: payload.into(),
        }),
    })
}

#[test]
fn a_conversation_is_written_as_the_strictest_server_wants_it() {
    let request = request(vec![
        (Role::User, vec![Block::text("look"), Block::text("twice")]),
        (Role::Assistant, vec![call("a"), call("b")]),
        (
            Role::User,
            vec![
                result("a", "", vec![image("ab")]),
                result("b", "B", vec![]),
                Block::text("go on"),
            ],
        ),
        (
            Role::Assistant,
            vec![Block::text("Done."), thought("q", "m", r#"{"field":"reasoning"}"#)],
        ),
        (Role::User, vec![Block::Image(image("gone"))]),
    ]);
    let arguments = r#"{"path":"x"}"#;
    let tool_call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "read", "arguments": arguments}});
    assert_eq!(
        sent(&request)["messages"],
        json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "look\n\ntwice"},
            {"role": "assistant", "content": null, "tool_calls": [tool_call("a"), tool_call("b")]},
            {"role": "tool", "tool_call_id": "a", "content": "(no output)"},
            {"role": "tool", "tool_call_id": "b", "content": "B"},
            {"role": "user", "content": [
                {"type": "text", "text": "An image that the tool returned:"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AQID"}},
                {"type": "text", "text": "go on"},
            ]},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "[an image (image/png, 3 bytes) that cannot be shown to this model]"},
        ])
    );
}

#[test]
fn reasoning_goes_back_to_its_maker_only_under_its_field() {
    let details = r#"{"field":"reasoning","details":[{"type":"reasoning.encrypted","data":"x"}]}"#;
    for (block, field, value) in [
        (thought("p", "m", r#"{"field":"reasoning_content"}"#), "reasoning_content", json!("hm")),
        (
            thought("p", "m", details),
            "reasoning_details",
            json!([{"type": "reasoning.encrypted", "data": "x"}]),
        ),
        (
            thought("p", "other", r#"{"field":"reasoning_content"}"#),
            "reasoning_content",
            Value::Null,
        ),
        (thought("q", "m", r#"{"field":"reasoning_content"}"#), "reasoning_content", Value::Null),
        (thought("p", "m", "not json"), "reasoning_content", Value::Null),
    ] {
        let blocks = vec![block, Block::text("x")];
        let sent = sent(&request(vec![(Role::Assistant, blocks)]));
        assert_eq!(sent["messages"][1].get(field).unwrap_or(&Value::Null), &value);
    }
    let alone = vec![thought("q", "m", "{}")];
    assert_eq!(
        sent(&request(vec![(Role::Assistant, alone)]))["messages"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn a_gear_that_the_model_lacks_is_not_sent() {
    for (gear, effort) in [
        (Gear::Default, Value::Null),
        (Gear::Low, json!("low")),
        (Gear::XHigh, json!("xhigh")),
        (Gear::Off, json!("none")),
        (Gear::High, Value::Null),
    ] {
        let request = RoundRequest { gear, ..request(vec![]) };
        assert_eq!(
            sent(&request).get("reasoning_effort").unwrap_or(&Value::Null),
            &effort,
            "{gear}"
        );
    }
}

#[test]
fn the_options_fit_the_server() {
    let mut request = request(vec![]);
    let compatible = sent(&request);
    assert_eq!(compatible["stream_options"], json!({"include_usage": true}));
    assert_eq!(compatible["max_tokens"], json!(512));
    assert_eq!((compatible.get("tools"), compatible.get("prompt_cache_key")), (None, None));
    let parameters = json!({"type": "object"});
    request.tools = [ToolSpec { name: "t".into(), description: "d".into(), parameters }].into();
    let openai = body(&request, Dialect::of_host("api.openai.com"), &Pictures::new());
    assert_eq!(openai["max_completion_tokens"], json!(512));
    assert_eq!(openai["prompt_cache_key"], json!("s1"));
    assert_eq!(
        openai["tools"],
        json!([{"type": "function", "function": {"name": "t", "description": "d", "parameters": {"type": "object"}}}])
    );
}

#[test]
fn an_id_that_a_server_would_refuse_is_the_same_other_id_in_call_and_result() {
    let long = "x".repeat(41);
    for id in ["", "a|b", "é", long.as_str()] {
        let sent = call_id(id);
        assert!(sent.len() <= CALL_ID_CHARS_MAX && sent.starts_with("call_"), "{sent}");
        assert_eq!(sent, call_id(id));
    }
    assert_eq!(call_id("call_00-a"), "call_00-a");
}
