//! A real server that nobody here wrote: one round with a tool, and the whole program. Opt-in:
//!
//! `CRYSTAL_REAL_MODEL_URL=http://127.0.0.1:18435/v1 cargo test --test real_model -- --ignored`

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "the test reads the environment and makes its own files"
)]

use std::sync::Arc;

use crystal::conversation::gear::Gear;
use crystal::conversation::message::{Block, Role};
use crystal::conversation::model::{ModelLimits, ModelSpec};
use crystal::conversation::round::{Purpose, RequestMessage, RoundEvent, RoundRequest};
use crystal::conversation::tool_call::ToolSpec;
use crystal::provider::offline::Pace;
use crystal::provider::{Api, Endpoint, Pool};
use futures_util::StreamExt;
use serde_json::json;

/// The model's id; llama.cpp takes any name.
const MODEL: &str = "qwen2.5-coder-0.5b";

fn request(said: &str) -> RoundRequest {
    let parameters = json!({
        "type": "object",
        "properties": {"path": {"type": "string", "description": "The file's path."}},
        "required": ["path"],
    });
    let description = "Reads a file of the project.".to_owned();
    RoundRequest {
        model: ModelSpec {
            provider: "local".into(),
            id: MODEL.into(),
            limits: ModelLimits { context_window: 8_192, max_tokens: Some(256) },
            gears: vec![],
            thinking_off_allowed: false,
            images: false,
            price: None,
        },
        gear: Gear::Default,
        system: "You help with code. Use the tools.".into(),
        messages: vec![RequestMessage { role: Role::User, blocks: vec![Block::text(said)] }],
        tools: [ToolSpec { name: "read".into(), description, parameters }].into(),
        cache_key: String::new(),
        purpose: Purpose::Round,
    }
}

#[tokio::test]
#[ignore = "needs the real model server"]
async fn real_model_round_with_a_tool_ends_with_usage() {
    let base_url = std::env::var("CRYSTAL_REAL_MODEL_URL").expect("set CRYSTAL_REAL_MODEL_URL");
    let endpoint =
        Endpoint { name: "local".into(), api: Api::OpenAiChat, base_url, ..Endpoint::offline() };
    let pool = Pool::new([endpoint], Arc::new(|_| None), Pace::NONE);
    let client = pool.client("local", MODEL).unwrap();
    let events: Vec<_> = client.start(request("Read the file src/main.rs.")).collect().await;
    assert_eq!(events.first(), Some(&RoundEvent::Accepted));
    match events.last() {
        Some(RoundEvent::End { usage: Some(usage), .. }) => {
            assert!(usage.prompt_tokens() > 0 && usage.output > 0, "{usage:?}");
        }
        other => panic!("{other:?}"),
    }
    // The model may choose words instead; a call must be whole.
    for event in &events {
        if let RoundEvent::Call(call) = event {
            assert!(call.input.is_object() && !call.id.as_str().is_empty(), "{call:?}");
        }
    }
}

/// The whole path: the built program, a real server, a saved session that goes on.
#[test]
#[ignore = "needs the real model server"]
fn real_model_answers_crystal_run_and_the_session_goes_on() {
    let url = std::env::var("CRYSTAL_REAL_MODEL_URL").expect("set CRYSTAL_REAL_MODEL_URL");
    let home = tempfile::tempdir().unwrap();
    let work = tempfile::tempdir().unwrap();
    std::fs::write(work.path().join("README.md"), "# Rivers\n").unwrap();
    let models = json!({MODEL: {"contextWindow": 8192, "maxTokens": 256}});
    let provider =
        json!({"api": "openai-chat", "baseUrl": url, "apiKey": "none", "models": models});
    let config = json!({"provider": "local", "model": MODEL, "providers": {"local": provider}});
    std::fs::write(home.path().join("config.json"), config.to_string()).unwrap();
    let run = |arguments: &[&str]| {
        let ran = std::process::Command::new(env!("CARGO_BIN_EXE_crystal"))
            .args(["run", "--output-format", "json"])
            .args(arguments)
            .current_dir(work.path())
            .env_clear()
            .env("CRYSTAL_HOME", home.path())
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        serde_json::from_slice::<serde_json::Value>(&ran.stdout).unwrap()
    };
    let first = run(&["Read README.md and tell me its title."]);
    assert!(!first["result"].as_str().unwrap().is_empty(), "{first}");
    assert!(first["totalUsage"]["output"].as_u64().unwrap() > 0, "{first}");
    let second = run(&["--continue", "Say it again."]);
    assert_eq!(second["sessionId"], first["sessionId"]);
    let sessions = home.path().join("sessions");
    for end in ["json", "jsonl"] {
        let file = sessions.join(format!("{}.{end}", first["sessionId"].as_str().unwrap()));
        assert!(file.exists(), "{end}");
    }
}
