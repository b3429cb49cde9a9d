//! Picks what happens next.

use crystal::app::effect::Job;
use crystal::app::event::{Event, Report, Said};
use crystal::app::key::{Focused, Input, Key, KeyCode, Mouse, MouseAct, Size};
use crystal::approval::action::{Action, Place, Prepared, Preview, Target};
use crystal::base::id::CallId;
use crystal::conversation::message::{OpaqueState, ToolUse};
use crystal::conversation::round::{RoundError, RoundErrorKind, RoundEvent, StopReason};
use crystal::conversation::todo::{Todo, TodoState};
use crystal::conversation::tool_call::{ToolEvent, ToolOutcome, parse_arguments};
use crystal::conversation::usage::Usage;
use std::io::ErrorKind;

use crate::dice::Dice;
use crate::world::{Pending, World};

const WORDS: [&str; 14] = [
    "hello",
    " ",
    "\n\n",
    "# title\n\n- a\n- b\n",
    "```rust\nfn main() {}\n",
    "```\n",
    "漢字 and 👩‍💻 e\u{301}",
    "\x1b[31mred\x1b[0m \x07\x08",
    "\u{202e}backwards\u{200b}",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "\t\r\n",
    "a_very_long_word_without_any_place_to_break_it_that_is_wider_than_a_small_screen_of_twenty",
    "[link](http://x.y) **bold** `code`",
    "\u{9b}2J\u{0}",
];

const COMMANDS: [&str; 17] = [
    "/clear",
    "/clear",
    "/model",
    "/model sim/large",
    "/model sim/small",
    "/model nobody/x",
    "/thinking high",
    "/thinking",
    "/status",
    "/help",
    "/plan",
    "/work",
    "/mode",
    "/copy",
    "/nonsense",
    "/mode sideways",
    "/",
];

/// Lets one thing happen.
pub fn step(world: &mut World) -> Result<(), String> {
    let ms = world.dice.pick(&[0, 0, 1, 20, 150, 400, 2_500, 31_000]);
    world.pass(ms);
    if world.dice.chance(60) {
        let count = world.dice.below(8);
        world.write(count);
    }
    if !world.told.is_empty() && world.dice.chance(70) {
        let (session, stored) = world.told.remove(0);
        return world.happen(Event::Stored(session, stored));
    }
    match world.dice.below(100) {
        0..=54 if !world.jobs.is_empty() => speak(world),
        0..=69 => type_something(world),
        70..=79 => run_timer(world),
        80..=84 => say_something_stale(world),
        85..=87 => {
            trouble_the_disk(world);
            Ok(())
        }
        88..=90 => other_input(world),
        _ => press_key(world),
    }
}

pub fn text(dice: &mut Dice) -> String {
    let count = 1 + dice.below(4);
    (0..count).map(|_| dice.pick(&WORDS)).collect()
}

fn speak(world: &mut World) -> Result<(), String> {
    let index = world.dice.index(world.jobs.len());
    let job = world.jobs[index].clone();
    let (said, is_last) = match &job.job {
        Job::Round { session, after, .. } => {
            // The request is not sent before what was said is stored.
            let (session, after) = (*session, *after);
            if !world.files(session).has_taken(after) {
                return Ok(());
            }
            round_says(&mut world.dice)
        }
        Job::Prepare { call, .. } => (prepare_says(&mut world.dice, call), true),
        Job::Tool { .. } if job.hangs && !(job.is_stopped && world.dice.chance(30)) => {
            return Ok(());
        }
        Job::Tool { .. } => tool_says(&mut world.dice, &job),
    };
    world.say(index, said, is_last)
}

fn round_says(dice: &mut Dice) -> (Said, bool) {
    let event = match dice.below(100) {
        0..=4 => RoundEvent::Accepted,
        5..=39 => RoundEvent::Text(text(dice)),
        40..=41 => RoundEvent::Text("word ".repeat(1_500)),
        42..=51 => RoundEvent::Reasoning(text(dice)),
        52..=55 => RoundEvent::ReasoningDone(opaque(dice)),
        56..=60 => {
            let name = dice.chance(70).then(|| "edit".to_owned());
            RoundEvent::CallProgress { name, bytes: dice.index(9_000) }
        }
        61..=80 => RoundEvent::Call(call(dice)),
        81..=91 => RoundEvent::End { stop: stop(dice), usage: usage(dice) },
        92..=97 => RoundEvent::Failed(error(dice)),
        _ => return (Said::Died("index out of bounds".into()), true),
    };
    let is_last = matches!(event, RoundEvent::End { .. } | RoundEvent::Failed(_));
    (Said::Round(event), is_last)
}

fn opaque(dice: &mut Dice) -> Option<OpaqueState> {
    dice.chance(50).then(|| OpaqueState {
        provider: "sim".into(),
        model: dice.pick(&["small", "large"]).into(),
        payload: r#"{"field":"reasoning"}"#.into(),
    })
}

fn call(dice: &mut Dice) -> ToolUse {
    let id =
        dice.pick(&["call_0", "call_1", "1", "x", "a_call_id_that_is_longer_than_forty_chars_"]);
    let name = dice.pick(&["read", "read", "grep", "edit", "bash", "todo", "make_coffee", ""]);
    let arguments = dice.pick(&[
        r#"{"path":"src/a.rs"}"#,
        r#"{"command":"ls; rm -rf x"}"#,
        "",
        r#"{"path": "cut"#,
        "[1,2]",
        r#"{"items":[]}"#,
        "{\"pattern\":\"\\u001b[2J\"}",
    ]);
    ToolUse { id: CallId::new(id), name: name.into(), input: parse_arguments(arguments) }
}

fn stop(dice: &mut Dice) -> StopReason {
    dice.pick(&[
        StopReason::EndTurn,
        StopReason::EndTurn,
        StopReason::ToolUse,
        StopReason::Length,
        StopReason::Refusal("no".into()),
        StopReason::Other("odd".into()),
    ])
}

fn usage(dice: &mut Dice) -> Option<Usage> {
    let some = Usage { input: 900, output: 20, cache_read: 40, ..Usage::default() };
    dice.pick(&[
        None,
        Some(Usage::default()),
        Some(some),
        Some(Usage { estimated: true, ..some }),
        Some(Usage { input: u64::MAX, ..some }),
    ])
}

fn error(dice: &mut Dice) -> RoundError {
    let kind = dice.pick(&[
        RoundErrorKind::Connect,
        RoundErrorKind::Stalled,
        RoundErrorKind::Cut,
        RoundErrorKind::Cut,
        RoundErrorKind::Busy,
        RoundErrorKind::Credentials,
        RoundErrorKind::ContextTooLong { window: Some(4_000) },
        RoundErrorKind::Rejected,
        RoundErrorKind::Nonsense,
    ]);
    let retry_after_ms = dice.pick(&[None, None, Some(0), Some(1_000), Some(9_000_000)]);
    RoundError { retry_after_ms, ..RoundError::new(kind, "it \x1b[1mbroke\x1b[0m") }
}

fn prepare_says(dice: &mut Dice, call: &ToolUse) -> Said {
    if dice.chance(4) {
        return Said::Died("assertion failed".into());
    }
    let target =
        Target { shown: "src/a.rs".into(), real: "/w/src/a.rs".into(), place: Place::Workspace };
    let outside = Target { place: Place::Outside, ..target.clone() };
    let (action, preview, is_independent) = match call.name.as_str() {
        "read" => (Action::Read(target), Preview::Path("src/a.rs".into()), true),
        "grep" => (Action::Read(outside), Preview::Path("/etc".into()), true),
        "edit" => {
            (Action::Change(target), Preview::Diff("@@ -1 +1 @@\n-a\n+b\x1b[0m\n".into()), false)
        }
        "bash" => {
            let command =
                dice.pick(&["ls", "rm -rf x", "cargo test | tee \x1b[0m", "echo $(date)"]);
            (Action::Run { command: command.into() }, Preview::Command(command.into()), false)
        }
        "todo" => (Action::Session, Preview::Path(String::new()), false),
        _ => return Said::Prepared(Err(Box::new(ToolOutcome::failed("There is no such tool")))),
    };
    if dice.chance(10) {
        return Said::Prepared(Err(Box::new(ToolOutcome::failed("no such file"))));
    }
    let call = call.clone();
    let prepared = Prepared { call, action, preview, guard: None, is_independent };
    Said::Prepared(Ok(Box::new(prepared)))
}

fn tool_says(dice: &mut Dice, job: &Pending) -> (Said, bool) {
    let outcome = match dice.below(100) {
        0..=29 => return (Said::Tool(ToolEvent::Output(text(dice))), false),
        30..=33 => return (Said::Died("out of memory".into()), true),
        _ if job.is_stopped => ToolOutcome::interrupted("stopped by the person"),
        34..=69 => ToolOutcome::ok(text(dice)),
        70..=74 => ToolOutcome::ok(""),
        75..=77 => ToolOutcome::ok("a line\n".repeat(3_000)),
        78..=88 => ToolOutcome::failed(text(dice)),
        89..=94 => {
            let todo = Todo { text: text(dice), state: TodoState::Pending };
            ToolOutcome { todos: Some(vec![todo]), ..ToolOutcome::ok("listed") }
        }
        _ => ToolOutcome::ok("done").with_diff("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+\x1b[31mb\n"),
    };
    (Said::Tool(ToolEvent::Done(outcome)), true)
}

fn run_timer(world: &mut World) -> Result<(), String> {
    if world.timers.is_empty() {
        return Ok(());
    }
    let index = world.dice.index(world.timers.len());
    let (timer, due) = world.timers.remove(index);
    let wait = due.since_ms(world.now.moment);
    world.pass(wait);
    world.happen(Event::Timer(timer))
}

/// A report that was on its way when its task was stopped or had ended.
fn say_something_stale(world: &mut World) -> Result<(), String> {
    if world.stale.is_empty() {
        return Ok(());
    }
    let pending = world.dice.pick(&world.stale);
    let said = match &pending.job {
        Job::Round { .. } => round_says(&mut world.dice).0,
        Job::Prepare { call, .. } => prepare_says(&mut world.dice, call),
        Job::Tool { .. } => tool_says(&mut world.dice, &pending).0,
    };
    world.happen(Event::Report(Report { task: pending.task, said }))
}

fn trouble_the_disk(world: &mut World) {
    match world.dice.below(8) {
        0 => world.disk.memory.set_space(Some(world.dice.index(600))),
        1 => world.disk.memory.fail_with(Some(ErrorKind::StorageFull)),
        2 => world.disk.memory.fail_with(Some(ErrorKind::ReadOnlyFilesystem)),
        3 => world.disk.let_renames_fail(true),
        _ => world.disk.heal(),
    }
}

fn type_something(world: &mut World) -> Result<(), String> {
    if world.dice.chance(25) {
        let command = world.dice.pick(&COMMANDS);
        return type_line(world, command);
    }
    world.messages_typed += 1;
    let number = world.messages_typed;
    let line = format!("m{number} {}", text(&mut world.dice));
    type_line(world, &line)
}

fn type_line(world: &mut World, line: &str) -> Result<(), String> {
    if line.len() > 12 || world.dice.chance(50) {
        world.happen(Event::Input(Input::Paste(line.to_owned())))?;
    } else {
        for c in line.chars() {
            press(world, Key::plain(KeyCode::Char(c)))?;
        }
    }
    if world.dice.chance(85) {
        return press(world, Key::plain(KeyCode::Enter));
    }
    Ok(())
}

fn press(world: &mut World, key: Key) -> Result<(), String> {
    if world.exit.is_some() {
        return Ok(());
    }
    world.happen(Event::Input(Input::Key(key)))
}

fn press_key(world: &mut World) -> Result<(), String> {
    let letter = |c| Key::plain(KeyCode::Char(c));
    let mut keys = vec![
        Key::plain(KeyCode::Esc),
        Key::plain(KeyCode::Esc),
        Key::ctrl('c'),
        Key::shift(KeyCode::Tab),
        Key::plain(KeyCode::BackTab),
        Key::plain(KeyCode::Enter),
        Key::plain(KeyCode::Enter),
        Key::plain(KeyCode::Up),
        Key::plain(KeyCode::Up),
        Key::plain(KeyCode::Down),
        Key::plain(KeyCode::Tab),
        Key::plain(KeyCode::PageUp),
        Key::plain(KeyCode::PageDown),
        Key::plain(KeyCode::Backspace),
        Key::plain(KeyCode::Left),
        Key::ctrl('r'),
        Key::ctrl('o'),
        Key::ctrl('u'),
        Key::ctrl('l'),
        Key::ctrl('z'),
        Key::alt(KeyCode::Char('z')),
        Key { is_repeat: true, ..letter('y') },
    ];
    for _ in 0..4 {
        keys.extend([letter('y'), letter('n'), letter('a')]);
    }
    let key = world.dice.pick(&keys);
    // One answer is two keys: the question, then its line.
    if key == letter('a') || key == letter('n') {
        press(world, key)?;
        world.pass(400);
        return press(world, Key::plain(KeyCode::Enter));
    }
    press(world, key)
}

fn other_input(world: &mut World) -> Result<(), String> {
    let input = match world.dice.below(4) {
        0 => {
            let size = world.dice.pick(&[(1, 1), (20, 5), (80, 24), (200, 60), (0, 0)]);
            Input::Resize(Size { columns: size.0, rows: size.1 })
        }
        1 => Input::Focus(world.dice.pick(&[Focused::Gained, Focused::Lost])),
        2 => {
            let act = world.dice.pick(&[MouseAct::WheelUp, MouseAct::WheelDown, MouseAct::Press]);
            Input::Mouse(Mouse { column: 3, row: 3, act })
        }
        _ => Input::Paste(text(&mut world.dice)),
    };
    world.happen(Event::Input(input))
}
