//! Frames of the whole workspace, colour-free, in `snapshots/`.

mod frames;

use crystal::app::effect::ScreenEffect;
use crystal::app::key::Focused;
use crystal::approval::action::{Action, Preview};
use crystal::config::schema::Notifications;
use crystal::conversation::round::{RoundError, RoundErrorKind, StopReason};
use crystal::conversation::tool_call::ToolOutcome;
use frames::{Workspace, inside};
use serde_json::json;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (40, 10)];

const DIFF: &str = "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1,3 +1,3 @@\n fn main() {\n-    println!(\"hello\");\n+    println!(\"hi\");\n }\n";

fn snapshot(name: &str, frame: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, frame));
}

fn check(name: &str, play: impl Fn(&mut Workspace)) {
    for (columns, rows) in SIZES {
        let mut workspace = Workspace::at(columns, rows);
        play(&mut workspace);
        snapshot(&format!("workspace_{name}_{columns}x{rows}"), &workspace.frame());
    }
}

/// A turn that looks, plans, changes a file and answers.
fn a_turn(workspace: &mut Workspace) {
    workspace.keys("say hi instead<enter>").says("I look at it first.");
    let read = ToolOutcome::ok("1\tfn main() {\n").with_summary("3 lines");
    workspace.tool("read", json!({"path": "src/main.rs"}), "src/main.rs", read);
    let items = json!({"items": [
        {"text": "read the code", "state": "done"},
        {"text": "change it", "state": "in_progress"},
        {"text": "run the tests", "state": "pending"},
    ]});
    workspace.calls("todo", items).ends(StopReason::ToolUse);
    workspace.is_prepared(Action::Session, Preview::Path("3 items".to_owned()));
    workspace.tool_ends(ToolOutcome::ok("The list is set.").with_summary("1 of 3 done"));
    asks(workspace);
    workspace.keys("y").tool_ends(ToolOutcome::ok("changed").with_diff(DIFF));
    workspace.says("Done: it says **hi** now.").ends(StopReason::EndTurn);
}

fn asks(workspace: &mut Workspace) {
    workspace.calls("edit", json!({"path": "src/main.rs"})).ends(StopReason::ToolUse);
    workspace.is_prepared(Action::Change(inside("src/main.rs")), Preview::Diff(DIFF.to_owned()));
}

fn runs(workspace: &mut Workspace) {
    workspace.keys("test it<enter>");
    workspace.calls("bash", json!({"command": "cargo test"})).ends(StopReason::ToolUse);
    workspace.is_prepared(
        Action::Run { command: "cargo test".to_owned() },
        Preview::Command("cargo test".to_owned()),
    );
}

#[test]
fn an_empty_session_says_how_to_begin() {
    check("empty", |_| {});
}

#[test]
fn a_turn_shows_what_was_done() {
    check("turn", a_turn);
}

#[test]
fn a_question_shows_the_exact_change() {
    check("question", |workspace| {
        workspace.keys("say hi instead<enter>");
        asks(workspace);
    });
}

// T04: however small the screen, the keys that answer are on it, and the arrows reach every row.
#[test]
fn a_question_always_shows_its_answers() {
    let diff: String = (1..60).map(|n| format!("+line {n}\n")).collect();
    let diff = format!("--- /dev/null\n+++ b/notes.md\n@@ -0,0 +1,59 @@\n{diff}");
    for (columns, rows) in [(80, 24), (40, 10), (40, 8), (20, 5), (200, 60)] {
        let mut workspace = Workspace::at(columns, rows);
        workspace.keys("write it<enter>");
        workspace.calls("write", json!({"path": "notes.md"})).ends(StopReason::ToolUse);
        let change = Action::Change(inside("notes.md"));
        workspace.is_prepared(change, Preview::Diff(diff.clone()));
        assert!(workspace.frame().contains("y yes"), "{}", workspace.frame());
        if rows >= 10 {
            let frame = workspace.keys(&"<down>".repeat(70)).frame();
            assert!(frame.contains("+ line 59") && frame.contains("y yes"), "{frame}");
        }
    }
}

#[test]
fn the_help_begins_with_what_a_beginner_needs() {
    check("help", |workspace| {
        workspace.keys("?");
    });
    let mut tall = Workspace::at(80, 120);
    snapshot("workspace_help_whole", &tall.keys("?").frame());
}

#[test]
fn the_status_explains_itself() {
    check("status", |workspace| {
        a_turn(workspace);
        workspace.keys("/status<enter>");
    });
}

#[test]
fn the_model_picker_leaves_the_conversation_in_sight() {
    check("models", |workspace| {
        a_turn(workspace);
        workspace.keys("/model<enter>");
    });
}

#[test]
fn what_runs_and_what_waits_is_between_conversation_and_composer() {
    check("queue", |workspace| {
        runs(workspace);
        workspace.keys("y").tool_says("   Compiling proj v0.1.0\n");
        workspace.keys("then commit it<enter>and push<enter>");
    });
}

#[test]
fn a_call_being_written_says_how_far_it_is() {
    let mut workspace = Workspace::at(40, 12);
    workspace.keys("write it<enter>").writes_call("write", 1_240);
    let frame = workspace.frame();
    assert!(frame.contains("· write (writing, 1240 bytes so far)"), "{frame}");
}

#[test]
fn plan_mode_is_seen_in_words() {
    check("plan", |workspace| {
        workspace.keys("<shift+tab>");
    });
    let mut workspace = Workspace::at(80, 24);
    let frame = workspace.keys("/plan<enter>/plan<enter>").frame();
    assert!(frame.contains("This is plan mode already"), "{frame}");
}

#[test]
fn an_error_says_what_to_do() {
    check("error", |workspace| {
        let error = RoundError::new(RoundErrorKind::Credentials, "401: invalid key");
        workspace.keys("hello<enter>").fails(error);
    });
}

// T04: no size makes any screen panic, and growing again restores it.
#[test]
fn every_screen_survives_every_size() {
    let screens: [fn(&mut Workspace); 5] = [
        a_turn,
        |workspace| {
            workspace.keys("?");
        },
        |workspace| {
            workspace.keys("/model<enter>");
        },
        |workspace| {
            workspace.keys("say hi<enter>");
            asks(workspace);
        },
        |workspace| {
            workspace.keys("/st");
        },
    ];
    for play in screens {
        let mut workspace = Workspace::at(80, 24);
        play(&mut workspace);
        let before = workspace.frame();
        for (columns, rows) in
            [(0, 0), (1, 1), (2, 1), (5, 2), (20, 5), (21, 6), (49, 11), (300, 3), (200, 60)]
        {
            workspace.resize(columns, rows).frame();
        }
        assert_eq!(workspace.resize(80, 24).frame(), before);
    }
}

// T07: a paste into a question or a list is text or nothing, never an answer.
#[test]
fn a_paste_answers_nothing() {
    let mut workspace = Workspace::at(80, 24);
    runs(&mut workspace);
    workspace.paste("y\n").paste("a\n");
    assert!(workspace.frame().contains("Run this command?"));
    let mut workspace = Workspace::at(80, 24);
    workspace.keys("/model<enter>").paste("qwen\n");
    let frame = workspace.frame();
    assert!(frame.contains("1/2") && frame.contains("/ qwen"), "{frame}");
}

// T09: text that streams in moves nothing that a person has scrolled to.
#[test]
fn the_view_stays_where_the_person_scrolled() {
    let mut workspace = Workspace::at(80, 24);
    workspace.keys("count<enter>");
    let lines = |from: usize| (from..from + 100).map(|n| format!("{n}\n\n")).collect::<String>();
    workspace.says(&lines(1)).frame();
    let top = |workspace: &mut Workspace| {
        workspace.frame().lines().next().map(str::to_owned).unwrap_or_default()
    };
    workspace.keys("<pageup>").frame();
    workspace.keys("<pageup>");
    let before = top(&mut workspace);
    workspace.says(&lines(200));
    assert_eq!(top(&mut workspace), before);
    assert!(workspace.frame().contains("↓ new"));
    workspace.keys("?").frame();
    workspace.keys("<esc>");
    assert_eq!(top(&mut workspace), before);
    workspace.keys("<ctrl+end>");
    assert!(workspace.frame().contains("299"));
}

// T03: the window's title carries no sequence of the model's or the person's.
#[test]
fn the_title_says_what_the_session_is_about() {
    let mut workspace = Workspace::at(80, 24);
    let title = |text: &str| ScreenEffect::Title(text.to_owned());
    assert_eq!(workspace.screen, [title("crystal · proj")]);
    workspace.keys("mend it<enter>");
    assert_eq!(workspace.screen.last(), Some(&title("crystal · mend it")));
    let given = workspace.screen.len();
    workspace.says("I do").ends(StopReason::EndTurn);
    assert_eq!(workspace.screen.len(), given);
    workspace.keys("/clear<enter>");
    assert_eq!(workspace.screen.last(), Some(&title("crystal · proj")));
}

#[test]
fn the_end_of_a_turn_is_told_as_the_config_says_and_only_from_afar() {
    for (config, focused, wanted) in [
        (Notifications::Bell, Focused::Lost, Some(ScreenEffect::Bell)),
        (
            Notifications::Osc9,
            Focused::Lost,
            Some(ScreenEffect::Notify("The turn has ended".to_owned())),
        ),
        (Notifications::Off, Focused::Lost, None),
        (Notifications::Bell, Focused::Gained, None),
    ] {
        let mut workspace = Workspace::at(80, 24);
        workspace.app.options.notifications = config;
        workspace.keys("hello<enter>").focus(focused);
        workspace.screen.clear();
        workspace.says("hi").ends(StopReason::EndTurn);
        assert_eq!(workspace.screen.first(), wanted.as_ref(), "{config:?}");
    }
}
