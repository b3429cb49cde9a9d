#![expect(clippy::disallowed_methods, reason = "the tests make the files that tools work on")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::json;
use tokio::sync::mpsc;

use super::*;
use crate::approval::action::Place;
use crate::base::id::CallId;
use crate::conversation::tool_call::{ToolStatus, parse_arguments};

#[derive(Default)]
struct Blobs(Mutex<Vec<Vec<u8>>>);

impl BlobSink for Blobs {
    fn put(&self, bytes: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap().push(bytes.to_vec());
        Ok(())
    }
}

struct Shop {
    _temp: tempfile::TempDir,
    base: PathBuf,
    root: PathBuf,
    tools: Toolbox,
}

fn shop() -> Shop {
    let temp = tempfile::tempdir().unwrap();
    let base = temp.path().canonicalize().unwrap();
    let root = base.join("ws");
    fs::create_dir_all(&root).unwrap();
    fs::create_dir_all(base.join("outside")).unwrap();
    let tools = Toolbox::new(Setup {
        workspace: root.clone(),
        environment_remove: vec!["CARGO_PKG_NAME".to_owned()],
        blobs: Some(Arc::new(Blobs::default())),
        temp_dir: base.join("tmp"),
    });
    Shop { _temp: temp, base, root, tools }
}

fn call(name: &str, input: Value) -> ToolUse {
    ToolUse { id: CallId::new("c"), name: name.to_owned(), input }
}

impl Shop {
    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.root.join(name)).unwrap()
    }
    async fn prepare(&self, name: &str, input: Value) -> Result<Prepared, ToolOutcome> {
        self.tools.prepare(call(name, input), Mode::Work).await
    }
    async fn finish(&self, prepared: Prepared) -> ToolOutcome {
        let (events, _keep) = mpsc::channel(8);
        self.tools.run(prepared, Mode::Work, events, CancellationToken::new()).await
    }
    async fn run(&self, name: &str, input: Value) -> ToolOutcome {
        match self.prepare(name, input).await {
            Ok(prepared) => self.finish(prepared).await,
            Err(outcome) => outcome,
        }
    }
    async fn fails(&self, name: &str, input: Value, wanted: &str) {
        let outcome = self.run(name, input.clone()).await;
        assert_eq!(outcome.status, ToolStatus::Failed, "{name} {input}: {}", outcome.text);
        assert!(outcome.text.contains(wanted), "{name} {input}: {}", outcome.text);
    }
    async fn works(&self, name: &str, input: Value, wanted: &str) {
        let outcome = self.run(name, input.clone()).await;
        assert_eq!(outcome.status, ToolStatus::Ok, "{name} {input}: {}", outcome.text);
        assert!(outcome.text.contains(wanted), "{name} {input}: {}", outcome.text);
    }
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "edits": [{"old": old, "new": new}]})
}

// W12
#[tokio::test]
async fn wrong_arguments_run_nothing_and_say_what_is_wanted() {
    let shop = shop();
    for (name, raw, wanted) in [
        ("write", r#"{"path": "a", "content": "half"#, "output limit"),
        ("write", r#"{"path": "a",}"#, "Required: path (string), content (string)"),
        ("write", "", "`path` is missing"),
        ("write", r#"{"path": "a"}"#, "`content` is missing"),
        ("write", "[]", "not a whole JSON object"),
        ("read", r#"{"path": 3}"#, "`path` must be a string"),
        ("read", r#"{"path": "a", "offset": 0}"#, "`offset` must be a whole number from 1"),
        ("edit", r#"{"path": "a", "edits": [{"old": "x"}]}"#, "`new` is missing"),
        ("edit", r#"{"path": "a", "edits": []}"#, "at least one"),
        (
            "todo",
            r#"{"items": [{"text": "x", "state": "later"}]}"#,
            "one of pending, in_progress, done",
        ),
        ("grep", r#"{"pattern": "("}"#, "Escape"),
        ("glob", r#"{"pattern": "../*"}"#, "cannot leave"),
        ("bash", "{}", "exactly one of"),
        ("bash", r#"{"read": 7}"#, "no background command 7"),
        ("raed", "{}", "Did you mean `read`?"),
    ] {
        let before = fs::read_dir(&shop.root).unwrap().count();
        shop.fails(name, parse_arguments(raw), wanted).await;
        assert_eq!(fs::read_dir(&shop.root).unwrap().count(), before);
    }
}

// X12: nothing on disk changes, neither by a call that is new nor by one that was prepared in work mode.
#[tokio::test]
async fn plan_mode_wins_also_over_calls_that_were_already_prepared() {
    let shop = shop();
    shop.put("f", "text\n");
    let names: Vec<String> = Toolbox::specs(Mode::Plan).into_iter().map(|spec| spec.name).collect();
    assert_eq!(names, ["read", "list", "glob", "grep", "bash", "todo"]);
    let commands = [
        "touch a",
        "echo x > f",
        "echo x >> f",
        "echo x | tee f",
        "cat <<E > f\nx\nE",
        "python3 -c 'open(\"a\", \"w\")'",
        "git commit --amend",
        "git stash",
        "git init",
        "sed -i s/t/x/ f",
        "ls; touch a",
        "ls $(touch a)",
        "ls & touch a",
        "find . -name f -delete",
        "sort -o f f",
        "ls\u{2028}touch a",
        "ls 'open",
        "",
    ];
    let commands = commands.map(|command| ("bash", json!({"command": command})));
    let background = ("bash", json!({"command": "touch a", "background": true}));
    let write = ("write", json!({"path": "a", "content": "x"}));
    for (name, input) in commands.into_iter().chain([background, write]) {
        let refused = shop.tools.prepare(call(name, input.clone()), Mode::Plan).await.unwrap_err();
        let Ok(prepared) = shop.tools.prepare(call(name, input.clone()), Mode::Work).await else {
            continue;
        };
        assert!(refused.text.starts_with("Plan mode:"), "{input}: {}", refused.text);
        let (events, _keep) = mpsc::channel(8);
        let outcome = shop.tools.run(prepared, Mode::Plan, events, CancellationToken::new()).await;
        assert!(outcome.text.starts_with("Plan mode:"), "{input}: {}", outcome.text);
    }
    let left: Vec<_> =
        fs::read_dir(&shop.root).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!((left.len(), shop.bytes("f").as_slice()), (1, &b"text\n"[..]), "{left:?}");
}

// X12: reading commands work in plan mode, and git neither writes its index nor starts a program of the repository.
#[tokio::test]
async fn reading_commands_run_in_plan_mode() {
    let shop = shop();
    shop.put("f", "text\n");
    let setup = "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first \
        && git config core.fsmonitor 'touch hit; true'";
    shop.works("bash", json!({"command": setup}), "exit 0").await;
    let plan = async |command: &str| {
        let input = call("bash", json!({"command": command}));
        let prepared = shop.tools.prepare(input, Mode::Plan).await.unwrap();
        let (events, _keep) = mpsc::channel(8);
        shop.tools.run(prepared, Mode::Plan, events, CancellationToken::new()).await
    };
    for (command, wanted) in [
        ("ls", "f\n"),
        ("git log -3", "first"),
        ("git status --short | head -5", "?? f"),
        ("grep -n text f && wc -l f", "1:text"),
        ("cat f 2>/dev/null", "text"),
    ] {
        let outcome = plan(command).await;
        assert!(
            !outcome.is_error() && outcome.text.contains(wanted),
            "{command}: {}",
            outcome.text
        );
    }
    assert!(!shop.root.join("hit").exists());
}

// X07
#[tokio::test]
async fn a_change_that_the_model_has_not_seen_is_never_overwritten() {
    let shop = shop();
    let write = |content: &str| json!({"path": "f", "content": content});
    shop.put("f", "one\ntwo\n");
    shop.fails("write", write("x"), "was not read").await;
    shop.fails("edit", edit("f", "one", "1"), "was not read").await;
    shop.works("read", json!({"path": "f"}), "     1\tone").await;
    // (d) the same size within the same second.
    shop.put("f", "uno\ntwo\n");
    shop.fails("write", write("x"), "+uno").await;
    shop.fails("write", write("x"), "changed since").await;
    shop.works("read", json!({"path": "f"}), "uno").await;
    // (b) a touch is no change.
    let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(5);
    fs::File::options().write(true).open(shop.root.join("f")).unwrap().set_modified(time).unwrap();
    shop.works("edit", edit("f", "uno", "ein"), "changed (+1 -1)").await;
    // (c) its own edit is known.
    shop.works("edit", edit("f", "ein", "een"), "changed").await;
    // (f) a formatter changed it: refused with the diff, then the model can go on.
    shop.put("f", "een\n  two\n");
    shop.fails("edit", edit("f", "een", "one"), "+  two").await;
    shop.works("edit", edit("f", "een", "one"), "changed").await;
    // What was shown is what runs: an edit that was prepared before another ran is refused. The turn engine
    // prepares a change only when all before it are settled.
    let first = shop.prepare("edit", edit("f", "one", "1")).await.unwrap();
    let second = shop.prepare("edit", edit("f", "two", "2")).await.unwrap();
    assert!(!shop.finish(first).await.is_error() && shop.finish(second).await.is_error());
    assert_eq!(shop.bytes("f"), b"1\n  two\n");
    // (g) between the question and the answer.
    let prepared = shop.prepare("write", write("mine")).await.unwrap();
    shop.put("f", "theirs");
    let outcome = shop.finish(prepared).await;
    assert!(outcome.is_error() && outcome.text.contains("nothing was written"), "{}", outcome.text);
    assert_eq!(shop.bytes("f"), b"theirs");
    let prepared = shop.prepare("write", json!({"path": "new", "content": "mine"})).await.unwrap();
    shop.put("new", "theirs");
    assert!(shop.finish(prepared).await.is_error());
    assert_eq!(shop.bytes("new"), b"theirs");
}

// X04, X05
#[tokio::test]
async fn a_written_file_keeps_mode_and_style_and_foreign_encodings_are_refused() {
    let shop = shop();
    shop.put("run.sh", "a\r\nb\r\n");
    fs::set_permissions(shop.root.join("run.sh"), fs::Permissions::from_mode(0o751)).unwrap();
    shop.run("read", json!({"path": "run.sh"})).await;
    let outcome = shop.run("edit", edit("run.sh", "b", "c")).await;
    assert_eq!(outcome.shown.summary.as_deref(), Some("+1 -1"));
    assert!(outcome.shown.diff.unwrap().contains("-b\n+c\n"));
    shop.works("write", json!({"path": "run.sh", "content": "a\nx\n"}), "changed").await;
    assert_eq!(shop.bytes("run.sh"), b"a\r\nx\r\n");
    let mode = fs::metadata(shop.root.join("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o751);
    shop.works("write", json!({"path": "run.sh", "content": "a\nx\n"}), "no change").await;
    shop.works("write", json!({"path": "d/e/f", "content": "x"}), "created").await;

    shop.put("latin", b"\xe9\nname\n");
    shop.works("read", json!({"path": "latin"}), "not UTF-8").await;
    shop.fails("write", json!({"path": "latin", "content": "e"}), "not UTF-8").await;
    shop.works("edit", edit("latin", "name", "nom"), "changed").await;
    assert_eq!(shop.bytes("latin"), b"\xe9\nnom\n");
    shop.put("wide", b"\xff\xfea\0\n\0");
    shop.works("read", json!({"path": "wide"}), "UTF-16").await;
    shop.fails("edit", edit("wide", "a", "b"), "UTF-16").await;
    let left: Vec<_> = fs::read_dir(&shop.root).unwrap().flatten().collect();
    assert!(left.iter().all(|entry| !entry.file_name().to_string_lossy().ends_with(".tmp")));
}

// X10
#[tokio::test]
async fn links_are_judged_by_their_end_and_a_swap_does_not_win() {
    let shop = shop();
    let outside = shop.base.join("outside");
    symlink(&outside, shop.root.join("dir")).unwrap();
    symlink(outside.join("new.txt"), shop.root.join("dangling")).unwrap();
    for path in ["dir/x", "dangling"] {
        let input = json!({"path": path, "content": "x"});
        let prepared = shop.prepare("write", input).await.unwrap();
        let Action::Change(target) = prepared.action else { panic!("{path}") };
        assert_eq!(target.place, Place::Outside, "{path}");
        assert!(target.shown.starts_with(outside.to_str().unwrap()), "{path}: {}", target.shown);
    }
    // A parent, then the file itself, becomes a link between the question and the answer.
    fs::create_dir(shop.root.join("sub")).unwrap();
    let prepared = shop.prepare("write", json!({"path": "sub/x", "content": "x"})).await.unwrap();
    fs::remove_dir(shop.root.join("sub")).unwrap();
    symlink(&outside, shop.root.join("sub")).unwrap();
    assert!(shop.finish(prepared).await.is_error());
    fs::write(outside.join("secret"), "secret").unwrap();
    shop.put("plain", "plain");
    let prepared = shop.prepare("read", json!({"path": "plain"})).await.unwrap();
    fs::remove_file(shop.root.join("plain")).unwrap();
    symlink(outside.join("secret"), shop.root.join("plain")).unwrap();
    let outcome = shop.finish(prepared).await;
    assert!(outcome.is_error() && !outcome.text.contains("secret"), "{}", outcome.text);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    // Searches do not follow links out.
    let outcome = shop.run("grep", json!({"pattern": "secret"})).await;
    assert!(outcome.text.starts_with("No match"), "{}", outcome.text);
}

// T14
#[tokio::test]
async fn reading_is_bounded_and_names_what_it_does_not_show() {
    let shop = shop();
    let many: String = (1..=3_000).map(|n| format!("{n}\n")).collect();
    shop.put("many", &many);
    shop.works("read", json!({"path": "many"}), "read from offset 2001").await;
    shop.works("read", json!({"path": "many", "offset": 2_999}), "  3000\t3000").await;
    shop.fails("read", json!({"path": "many", "offset": 3_001}), "has 3000 lines").await;
    for letters in 0..4 {
        shop.put("long", "a".repeat(letters) + &"🙂".repeat(30_000));
        shop.works("read", json!({"path": "long"}), "[… line cut]").await;
    }
    let wide: String = (0..1_000).map(|_| "漢".repeat(100) + "\n").collect();
    shop.put("wide", wide);
    let outcome = shop.run("read", json!({"path": "wide"})).await;
    assert!(outcome.text.len() <= crate::base::limits::RESULT_BYTES_MAX, "{}", outcome.text.len());
    shop.put("empty", "");
    shop.works("read", json!({"path": "empty"}), "empty").await;
    shop.put("bin", b"\x7fELF\0\0");
    shop.fails("read", json!({"path": "bin"}), "an ELF executable").await;
    shop.put("src/config.rs", "");
    shop.fails("read", json!({"path": "src/confg.rs"}), "src/config.rs").await;
    shop.fails("read", json!({"path": "config.rs"}), "src/config.rs").await;
    shop.fails("read", json!({"path": "src"}), "is a folder").await;
    rustix::fs::mknodat(
        rustix::fs::CWD,
        shop.root.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    shop.fails("read", json!({"path": "pipe"}), "a named pipe").await;
    shop.fails("write", json!({"path": "pipe", "content": ""}), "a named pipe").await;
    shop.fails("read", json!({"path": "/dev/zero"}), "a device").await;
}

#[tokio::test]
async fn an_image_is_shown_as_an_image() {
    let shop = shop();
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03\x08\x02\0\0\0".to_vec();
    png.extend([0; 16]);
    shop.put("a.txt", &png);
    let outcome = shop.run("read", json!({"path": "a.txt"})).await;
    assert_eq!(outcome.images.len(), 1, "{}", outcome.text);
    assert_eq!(outcome.images[0].media_type, "image/png");
    assert_eq!(outcome.images[0].sha256, seen::digest(&png));
    assert!(outcome.text.contains("2×3"), "{}", outcome.text);
}

#[tokio::test]
async fn searching_honours_ignore_files_and_bounds() {
    let shop = shop();
    shop.put(".gitignore", "target/\n");
    shop.put("target/x.rs", "needle\n");
    shop.put("src/a.rs", "one\nNeedle here\nthree\n");
    shop.put("src/b.txt", "needle\n");
    shop.put("bin", b"needle\0");
    let set = |name: &str, seconds| {
        let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        let file = fs::File::options().write(true).open(shop.root.join(name)).unwrap();
        file.set_modified(time).unwrap();
    };
    set("src/a.rs", 10);
    set("src/b.txt", 20);
    let found = shop.run("grep", json!({"pattern": "needle"})).await;
    assert_eq!(found.text, "src/b.txt:1:needle\n");
    let input = json!({"pattern": "needle", "ignore_case": true, "glob": "*.rs", "context": 1});
    let found = shop.run("grep", input).await;
    assert_eq!(found.text, "src/a.rs-1-one\nsrc/a.rs:2:Needle here\nsrc/a.rs-3-three\n");
    let found = shop.run("glob", json!({"pattern": "src/*"})).await;
    assert_eq!(found.text, "src/b.txt\nsrc/a.rs\n");
    shop.works("glob", json!({"pattern": "*.rs"}), "src/a.rs").await;
    let listed = shop.run("list", json!({})).await;
    assert_eq!(
        listed.text,
        "./\n  .gitignore (8 B)\n  bin (7 B)\n  src/\n    a.rs (22 B)\n    b.txt (7 B)\n"
    );
    shop.put("many", "needle\n".repeat(600));
    shop.works("grep", json!({"pattern": "needle"}), "stopped at 500 matches").await;
    // X16
    shop.put("x\napprove all", "needle\n");
    shop.works("list", json!({}), "\"x\\napprove all\"").await;
}

// X01, X15
#[tokio::test]
async fn a_command_has_no_terminal_no_input_and_no_keys() {
    let shop = shop();
    for (command, wanted) in [
        ("cat; echo after", "after"),
        ("read x || echo eof", "eof"),
        ("cat <<A\nhere\nA\nread x || echo eof", "here\neof"),
        ("head -1 </dev/tty || echo none", "none"),
        ("echo ${CARGO_PKG_NAME-removed}", "removed"),
        ("echo out; echo err >&2; echo out", "out\nerr\nout"),
        ("printf '\\033[31mred\\033[0m 10%%\\r100%%'", "100%"),
        ("true", "(no output)\n[exit 0, "),
        ("pwd", shop.root.to_str().unwrap()),
    ] {
        shop.works("bash", json!({"command": command}), wanted).await;
    }
    shop.fails("bash", json!({"command": "echo no; exit 3"}), "no\n[exit 3, ").await;
    shop.fails("bash", json!({"command": "kill -9 $$"}), "[signal 9, ").await;
    let tmp: &Path = &shop.base.join("tmp");
    assert_eq!(fs::metadata(tmp).unwrap().permissions().mode() & 0o777, 0o700);
}

// X02
#[tokio::test]
async fn children_that_live_on_are_named_and_ended_with_the_session() {
    let shop = shop();
    let outcome =
        shop.run("bash", json!({"command": "sleep 300 & setsid sleep 300 & echo hi"})).await;
    assert!(outcome.text.starts_with("hi\n[exit 0, "), "{}", outcome.text);
    assert!(outcome.text.contains("still running: background command 1"), "{}", outcome.text);
    assert_eq!(shop.tools.background()[0].state, BackgroundState::ChildrenOnly);
    shop.works(
        "bash",
        json!({"command": "echo up; exec sleep 300", "background": true}),
        "{\"read\": 2}",
    )
    .await;
    shop.works("bash", json!({"stop": 2}), "signal 15").await;
    shop.tools.shutdown().await;
    assert!(
        shop.tools.background().iter().all(|info| matches!(info.state, BackgroundState::Ended(_)))
    );
}

#[tokio::test]
async fn a_stop_ends_the_whole_group_and_a_time_limit_does_too() {
    let shop = shop();
    let command = "trap '' TERM; echo ready; (sleep 300; echo never) & sleep 300";
    let prepared = shop.prepare("bash", json!({"command": command})).await.unwrap();
    let (events, mut heard) = mpsc::channel(8);
    let stop = CancellationToken::new();
    let stopping = async {
        assert_eq!(heard.recv().await, Some(ToolEvent::Output("ready\n".to_owned())));
        stop.cancel();
    };
    let (outcome, ()) =
        tokio::join!(shop.tools.run(prepared, Mode::Work, events, stop.clone()), stopping);
    assert_eq!(outcome.status, ToolStatus::Interrupted);
    assert!(outcome.text.starts_with("ready\n[stopped after"), "{}", outcome.text);
    assert_eq!(shop.tools.background(), []);
    shop.fails("bash", json!({"command": "sleep 300", "timeout_s": 1}), "timed out").await;
}

// X03
#[tokio::test]
async fn a_flood_is_cut_in_the_middle() {
    let shop = shop();
    let command = "echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last";
    let outcome = shop.run("bash", json!({"command": command})).await;
    assert!(outcome.text.starts_with("first\n") && outcome.text.contains("\nlast\n[exit 0"));
    assert!(outcome.text.contains("bytes of output were left out"));
    assert!(outcome.text.len() < crate::base::limits::OUTPUT_BYTES_MAX + 1_000);
}

#[tokio::test]
async fn a_todo_list_is_part_of_the_outcome() {
    let shop = shop();
    let items =
        json!({"items": [{"text": "a", "state": "done"}, {"text": "b", "state": "pending"}]});
    let outcome = shop.run("todo", items).await;
    assert_eq!(outcome.todos.unwrap().len(), 2);
    assert_eq!(outcome.shown.summary.as_deref(), Some("1 of 2 done"));
}
