//! A world for the real program: a home, a workspace and a scripted model, all its own.
//!
//! The environment holds nothing but what is given here, so a test means the same on any machine.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a harness of tests; each file uses a part of it"
)]

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::{Reply, Server};

pub const CRYSTAL: &str = env!("CARGO_BIN_EXE_crystal");

/// A key that must never be seen again (X15).
pub const CANARY: &str = "sk-canary-3f9a1c77d2e84b60";

pub struct World {
    folder: TempDir,
    pub server: Server,
}

/// What a program without a screen left behind.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// The lines of stream-json, or the one of json.
    pub fn json_lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl World {
    /// A workspace that speaks to a model with this script.
    pub fn new(script: impl IntoIterator<Item = Reply>) -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap(), server: Server::start(script) };
        std::fs::create_dir(world.home()).unwrap();
        std::fs::create_dir(world.work()).unwrap();
        world.configure(&json!({}));
        world
    }

    /// A workspace without any configuration.
    pub fn offline() -> Self {
        let world = Self::new([]);
        std::fs::remove_file(world.home().join("config.json")).unwrap();
        world
    }

    /// Writes config.json: the scripted model, quick retries, and these keys over it.
    pub fn configure(&self, more: &Value) {
        let mut config = json!({
            "provider": "scripted",
            "model": "m",
            "providers": {"scripted": {
                "api": "openai-chat",
                "baseUrl": self.server.base_url(),
                "apiKeyEnv": "SCRIPTED_KEY",
                "models": {"m": {"contextWindow": 100_000}},
            }},
            "retry": {"attempts": 5, "baseDelayMs": 1, "maxDelayMs": 20},
        });
        merge(&mut config, more);
        std::fs::write(self.home().join("config.json"), config.to_string()).unwrap();
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.work().join(name), text).unwrap();
    }
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.work().join(name)).unwrap()
    }

    /// The environment of the program.
    pub fn env(&self) -> Vec<(&'static str, String)> {
        vec![
            ("CRYSTAL_HOME", self.home().display().to_string()),
            ("HOME", self.folder.path().display().to_string()),
            ("PATH", std::env::var("PATH").unwrap_or_default()),
            ("SCRIPTED_KEY", CANARY.to_owned()),
        ]
    }

    /// `program` in the workspace, with the environment and no input.
    pub fn command_of(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).env_clear().envs(self.env()).current_dir(self.work());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn start(&self, args: &[&str]) -> Child {
        self.command_of(CRYSTAL, args).spawn().unwrap()
    }

    /// Runs the program to its end.
    pub fn run(&self, args: &[&str]) -> Ran {
        ended(self.start(args))
    }

    pub fn run_with_input(&self, args: &[&str], input: &str) -> Ran {
        let mut child = self.command_of(CRYSTAL, args).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        ended(child)
    }

    pub fn sessions(&self) -> PathBuf {
        self.home().join("sessions")
    }

    /// The archives, by name.
    pub fn archives(&self) -> Vec<PathBuf> {
        let Ok(names) = std::fs::read_dir(self.sessions()) else { return Vec::new() };
        let mut found: Vec<PathBuf> = names.map(|entry| entry.unwrap().path()).collect();
        found.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        found.sort();
        found
    }

    /// The only archive there is.
    pub fn archive(&self) -> PathBuf {
        let archives = self.archives();
        assert_eq!(archives.len(), 1, "{archives:?}");
        archives[0].clone()
    }

    /// The records of the only archive.
    pub fn records(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.archive()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The texts that the records of the only archive hold for a role, joined.
    pub fn said(&self, role: &str) -> Vec<String> {
        let records = self.records();
        let messages = records.iter().filter(|record| record["kind"] == "message");
        let messages = messages.filter(|record| record["message"]["role"] == role);
        messages.map(|record| text_of(&record["message"]["content"])).collect()
    }

    /// Every file and folder under the home.
    pub fn home_files(&self) -> Vec<PathBuf> {
        let mut found = vec![self.home()];
        let mut next = 0;
        while next < found.len() {
            if found[next].is_dir() {
                let names = std::fs::read_dir(&found[next]).unwrap();
                found.extend(names.map(|entry| entry.unwrap().path()));
            }
            next += 1;
        }
        found
    }

    /// Fails if the key is in any file under the home.
    pub fn assert_no_canary(&self) {
        for path in self.home_files().into_iter().filter(|path| path.is_file()) {
            let bytes = std::fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(CANARY), "the key is in {}", path.display());
        }
    }

    /// Fails unless everything under the home is the user's alone.
    pub fn assert_private(&self) {
        for path in self.home_files().into_iter().skip(1) {
            if path.ends_with("config.json") {
                continue;
            }
            let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            let wanted = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode, wanted, "{} has mode {mode:o}", path.display());
        }
    }
}

/// Waits for the end of a program and reads what it wrote.
pub fn ended(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// All text in a value of content blocks.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => {
            ["text", "content"].iter().filter_map(|key| fields.get(*key)).map(text_of).collect()
        }
        _ => String::new(),
    }
}

fn merge(into: &mut Value, more: &Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (key, value) in more {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, more) => *into = more.clone(),
    }
}

/// Waits for something of the server.
pub fn wait<T>(what: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let patience = std::time::Duration::from_mins(1);
    runtime.block_on(async { tokio::time::timeout(patience, what).await }).unwrap()
}

/// The text of a request's last message.
pub fn last_text(request: &crate::server::Request) -> String {
    let messages = request.body["messages"].as_array().unwrap();
    text_of(&messages.last().unwrap()["content"])
}

/// Whether a process still runs; one that has ended and waits to be collected does not.
pub fn is_alive(pid: &str) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    let state = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}
