//! The command line's settings, through the real binary with a cleared environment.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::disallowed_methods, reason = "the test makes its own files")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    fn with(config: &str) -> Self {
        let home = Self::new();
        std::fs::write(home.0.path().join("config.json"), config).unwrap();
        home
    }
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crystal"));
        command.args(args).env_clear().env("CRYSTAL_HOME", self.0.path()).stdin(Stdio::null());
        command.current_dir(self.0.path());
        command
    }
    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } = self.command(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), text(stdout), text(stderr))
    }
}

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn files(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(root(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    files
}

#[test]
fn every_valid_file_loads() {
    for file in files("tests/configs/valid") {
        let home = Home::with(&std::fs::read_to_string(&file).unwrap());
        let (code, _, error) = home.run(&["config", "check"]);
        assert_eq!((code, error.as_str()), (0, ""), "{}", file.display());
    }
}

#[test]
fn every_invalid_file_is_refused_with_its_message() {
    for file in files("tests/configs/invalid") {
        let home = Home::with(&std::fs::read_to_string(&file).unwrap());
        let expected = std::fs::read_to_string(file.with_extension("expected")).unwrap();
        for args in [&["config", "check"][..], &["config", "show"], &["run", "hi"], &[]] {
            let (code, out, error) = home.run(args);
            assert_eq!((code, out.as_str()), (2, ""), "{} {args:?}", file.display());
            assert_eq!(error, format!("crystal: {expected}"), "{args:?}");
        }
    }
}

#[test]
fn the_example_loads_and_shows_every_key_with_its_default() {
    let text = std::fs::read_to_string(root("config.example.json")).unwrap();
    let (config, warnings) = crystal::config::parse::parse(&text).unwrap();
    assert_eq!(warnings, []);
    let example: serde_json::Value = serde_json::from_str(&text).unwrap();
    let schema = crystal::config::schema::json_schema();
    let mut keys: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
    let mut shown: Vec<_> = example.as_object().unwrap().keys().collect();
    keys.sort();
    shown.sort();
    assert_eq!(shown, keys);
    // The parts that are off by default are shown switched off; the rest is the default itself.
    let mut config = config;
    config.providers.clear();
    assert!(config.micro_compaction.take().is_some_and(|micro| !micro.enabled));
    for side in [&mut config.compaction_model, &mut config.approval_model, &mut config.title_model]
    {
        assert!(side.take().is_some_and(|side| !side.enabled));
    }
    assert_eq!(config, crystal::config::schema::Config::default());
}

#[test]
fn show_names_the_source_and_check_warns() {
    let home = Home::with(r#"{"theme": "x", "retry": {"atempts": 2}}"#);
    let (code, out, _) = home.run(&["config", "show"]);
    assert_eq!(code, 0);
    let line = |key: &str| out.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
    assert!(line("theme ").ends_with("\"x\"  (config.json)"), "{out}");
    assert!(line("mode ").ends_with("\"work\""), "{out}");
    let (_, out, _) = home.run(&["config", "check"]);
    assert!(
        out.contains(
            "config.json: retry.atempts: is not a known key and is kept; did you mean attempts?"
        ),
        "{out}"
    );
}

// X15
#[test]
fn no_command_prints_a_key() {
    let home = Home::with(
        r#"{"providers": {"openai": {"apiKey": "sk-TEST-CANARY", "headers": {"X-Key": "sk-TEST-CANARY"}, "baseUrl": "https://u:sk-TEST-CANARY@h/v1"}}}"#,
    );
    for args in [&["config", "show"][..], &["config", "check"], &["config"], &["run", "x"]] {
        let Output { stdout, stderr, .. } =
            home.command(args).env("ANTHROPIC_API_KEY", "sk-TEST-CANARY").output().unwrap();
        let all = String::from_utf8([stdout, stderr].concat()).unwrap();
        assert!(!all.contains("CANARY"), "{args:?}: {all}");
    }
    assert!(home.run(&["config", "show"]).1.contains("[redacted]"));
}

// X13: an untrusted folder's settings are not read.
#[test]
fn a_folder_that_is_not_trusted_changes_nothing() {
    let home = Home::new();
    std::fs::create_dir(home.0.path().join(".crystal")).unwrap();
    std::fs::write(home.0.path().join(".crystal/config.json"), "{ broken").unwrap();
    for args in [&["config", "show"][..], &["config", "check"], &["--help"]] {
        assert_eq!(home.run(args).0, 0, "{args:?}");
    }
}

#[test]
fn bad_usage_exits_with_2() {
    let home = Home::new();
    for args in [
        &["--nope"][..],
        &["--mode", "look"],
        &["--model", "gpt"],
        &["--workspace", "missing"],
        &["--config", "missing.json"],
        &["--compaction-model", "on"],
        &["run", "--compaction-model", "on", "--compaction-provider", "p", "x"],
        &["config", "nope"],
    ] {
        let (code, out, error) = home.run(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}");
        assert!(!error.is_empty() && !error.contains("panicked"), "{args:?}: {error}");
    }
}

#[test]
fn help_version_man_completions_and_schema_are_printed() {
    let home = Home::new();
    for (args, part) in [
        (&["--version"][..], "crystal "),
        (&["--help"], "Examples:"),
        (&["run", "--help"], "--output-format"),
        (&["man"], ".TH crystal"),
        (&["completions", "bash"], "_crystal"),
        (&["config", "schema"], "\"compactionThreshold\""),
        (&["config", "path"], "config.json"),
    ] {
        let (code, out, error) = home.run(args);
        assert_eq!((code, error.as_str()), (0, ""), "{args:?}");
        assert!(out.contains(part), "{args:?}: {out}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let home = Home::new();
    for args in [&["config", "schema"][..], &["man"], &["completions", "zsh"], &["--help"]] {
        let mut child =
            home.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}
