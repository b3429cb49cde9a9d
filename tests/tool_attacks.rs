//! What a hostile workspace or command can do to the tools, against the real ones (X01 X02 X03 X10 X15).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::disallowed_methods, reason = "the test makes its own files")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crystal::approval::action::{Action, Place, Prepared};
use crystal::base::id::CallId;
use crystal::conversation::message::ToolUse;
use crystal::conversation::mode::Mode;
use crystal::conversation::tool_call::ToolOutcome;
use crystal::tool::{Setup, Toolbox};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

struct Shop {
    _temp: tempfile::TempDir,
    base: PathBuf,
    root: PathBuf,
    tools: Toolbox,
}

impl Shop {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let root = base.join("ws");
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(base.join("outside")).unwrap();
        let setup = Setup {
            workspace: root.clone(),
            environment_remove: vec!["CARGO_MANIFEST_DIR".to_owned()],
            blobs: None,
            temp_dir: base.join("tmp"),
        };
        Self { _temp: temp, base, root, tools: Toolbox::new(setup) }
    }

    async fn prepare(&self, name: &str, input: Value) -> Result<Prepared, ToolOutcome> {
        let call = ToolUse { id: CallId::new("c"), name: name.to_owned(), input };
        self.tools.prepare(call, Mode::Work).await
    }

    async fn finish(&self, prepared: Prepared) -> ToolOutcome {
        let (events, _keep) = mpsc::channel(8);
        self.tools.run(prepared, Mode::Work, events, CancellationToken::new()).await
    }

    /// The result of a call, whether it was refused early or ran.
    async fn result(&self, name: &str, input: Value) -> ToolOutcome {
        match self.prepare(name, input).await {
            Ok(prepared) => self.finish(prepared).await,
            Err(refused) => refused,
        }
    }
}

fn edits(path: &str) -> Value {
    json!({"path": path, "edits": [{"old": "a", "new": "b"}]})
}

// X10: nothing that blocks or never ends is opened, whatever leads to it.
#[tokio::test]
async fn devices_pipes_and_huge_files_do_not_hold_a_tool_up() {
    let shop = Shop::new();
    let made = std::process::Command::new("mkfifo").arg(shop.root.join("pipe")).status().unwrap();
    assert!(made.success());
    symlink("/dev/zero", shop.root.join("zero")).unwrap();
    fs::File::create(shop.root.join("huge")).unwrap().set_len(1 << 30).unwrap();
    for path in ["pipe", "zero", "/dev/zero", "/dev/tty", "huge"] {
        for (name, input) in [
            ("read", json!({"path": path})),
            ("edit", edits(path)),
            ("write", json!({"path": path, "content": "x"})),
        ] {
            let outcome = shop.result(name, input).await;
            assert!(outcome.is_error(), "{name} {path}: {}", outcome.text);
            assert!(outcome.text.len() < 2_000, "{name} {path}: {}", outcome.text);
        }
        let outcome = shop.result("grep", json!({"pattern": "needle", "path": path})).await;
        assert!(!outcome.text.contains("needle:"), "{path}: {}", outcome.text);
    }
    assert_eq!(fs::metadata(shop.root.join("huge")).unwrap().len(), 1 << 30);
}

// X10: a parent that becomes a link between the question and the answer.
#[tokio::test]
async fn a_folder_swapped_for_a_link_after_the_question_is_not_written_through() {
    for (name, input) in [
        ("write", json!({"path": "sub/new", "content": "mine"})),
        ("write", json!({"path": "sub/deep/new", "content": "mine"})),
        ("edit", edits("sub/f")),
    ] {
        let shop = Shop::new();
        fs::create_dir(shop.root.join("sub")).unwrap();
        fs::write(shop.root.join("sub/f"), "a\n").unwrap();
        fs::write(shop.base.join("outside/f"), "a\n").unwrap();
        shop.result("read", json!({"path": "sub/f"})).await;
        let prepared = shop.prepare(name, input).await.unwrap();
        fs::rename(shop.root.join("sub"), shop.root.join("old")).unwrap();
        symlink(shop.base.join("outside"), shop.root.join("sub")).unwrap();
        let outcome = shop.finish(prepared).await;
        assert!(outcome.is_error(), "{name}: {}", outcome.text);
        assert_eq!(fs::read_dir(shop.base.join("outside")).unwrap().count(), 1);
        assert_eq!(fs::read(shop.base.join("outside/f")).unwrap(), b"a\n");
    }
}

// X10: chains, loops, dots and absolute paths are judged by where they end.
#[tokio::test]
async fn every_way_out_is_seen_as_outside() {
    let shop = Shop::new();
    fs::write(shop.base.join("outside/v.txt"), "secret").unwrap();
    fs::create_dir(shop.root.join("sub")).unwrap();
    let link = |to: &str, at: &str| symlink(to, shop.root.join(at)).unwrap();
    link("../outside", "dir");
    link("dir", "chain1");
    link("chain1", "chain2");
    link("../outside/v.txt", "notes.md");
    link("../outside/new.txt", "dangling");
    link("loop", "loop");
    link("sub", "inner");
    let absolute = shop.base.join("outside/v.txt");
    for path in [
        "dir/v.txt",
        "chain2/v.txt",
        "notes.md",
        "dangling",
        "../outside/v.txt",
        "sub/../../outside/v.txt",
        "chain2/../outside/v.txt",
        absolute.to_str().unwrap(),
    ] {
        let input = json!({"path": path, "content": "x"});
        // A change of what was not read is refused before anything is asked.
        if let Ok(prepared) = shop.prepare("write", input).await {
            let Action::Change(target) = prepared.action else { panic!("{path}") };
            assert_eq!(target.place, Place::Outside, "{path}");
            assert!(target.real.starts_with(shop.base.join("outside")), "{path}");
        }
        if let Ok(prepared) = shop.prepare("read", json!({"path": path})).await {
            let Action::Read(target) = prepared.action else { panic!("{path}") };
            assert_eq!(target.place, Place::Outside, "{path}");
        }
    }
    assert!(shop.result("read", json!({"path": "loop"})).await.is_error());
    let prepared = shop.prepare("write", json!({"path": "inner/x", "content": "x"})).await.unwrap();
    let Action::Change(target) = prepared.action else { panic!("inner") };
    assert_eq!((target.place, target.shown.as_str()), (Place::Workspace, "sub/x"));
    assert!(!shop.base.join("outside/new.txt").exists());
    for (name, input) in
        [("grep", json!({"pattern": "secret"})), ("glob", json!({"pattern": "**/*.txt"}))]
    {
        let outcome = shop.result(name, input).await;
        assert!(
            !outcome.text.contains("secret") && !outcome.text.contains("v.txt"),
            "{}",
            outcome.text
        );
    }
}

// X01: nothing waits for a person, and the terminal is out of reach.
#[tokio::test]
async fn commands_that_want_a_person_end_by_themselves() {
    let shop = Shop::new();
    for command in [
        "cat",
        "read x; echo \"got:$x\"",
        "cat <<A\nx\nA\nread y; echo \"got:$y\"",
        "head -1 </dev/tty",
        "bash -i -c 'read z </dev/tty'",
        "python3 -c 'input()'",
        "git init -q . && git -c user.name=a -c user.email=a@b commit --allow-empty",
    ] {
        let outcome = shop.result("bash", json!({"command": command, "timeout_s": 60})).await;
        assert!(!outcome.text.contains("timed out"), "{command}: {}", outcome.text);
    }
}

// X02: a command that ignores TERM, and one that left its session, end with the toolbox.
#[tokio::test]
async fn nothing_is_left_after_shutdown() {
    let shop = Shop::new();
    let mark = shop.root.join("alive");
    for command in [
        "trap '' TERM; while :; do sleep 1; done",
        "setsid bash -c \"trap '' TERM HUP; while :; do sleep 1; done\"",
        "nohup yes >/dev/null",
    ] {
        shop.result("bash", json!({"command": command, "background": true})).await;
    }
    let outcome = shop.result("bash", json!({"command": "(while :; do :; done) & exit 1"})).await;
    assert!(outcome.text.contains("still running"), "{}", outcome.text);
    assert_eq!(shop.tools.background().len(), 4);
    shop.tools.shutdown().await;
    let at_work = cwd_holders(&shop.root);
    assert!(at_work.is_empty() && !mark.exists(), "{at_work:?}");
}

/// The processes that work in a folder.
fn cwd_holders(folder: &std::path::Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let all = entries.flatten().map(|entry| entry.path());
    let here = all.filter(|path| fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd == folder));
    here.map(|path| path.display().to_string()).collect()
}

// X03: what a flood leaves is bounded; memory was measured by hand with this test.
#[tokio::test]
#[ignore = "takes long; run by hand with /usr/bin/time -v"]
async fn floods_are_bounded() {
    let shop = Shop::new();
    for command in [
        "yes",
        "cat /dev/urandom",
        "head -c 500000000 /dev/zero | tr '\\0' x",
        "python3 -c 'import os\nfor i in range(1000000): os.write(1+i%2, b\"x\")'",
        "seq 1 100000000",
    ] {
        let outcome = shop.result("bash", json!({"command": command, "timeout_s": 5})).await;
        let peak = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let peak =
            peak.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_owned();
        eprintln!("{command}: {} bytes of result, {peak}", outcome.text.len());
        // 8 MiB are kept whole for the archive; urandom as text that stands for its bytes.
        assert!(outcome.text.len() < 32_000_000, "{command}");
    }
}
