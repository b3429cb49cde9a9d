//! What the simulation found, each as a short history of its own.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use crystal::app::event::{Event, Said};
use crystal::app::key::{Input, Key, KeyCode, Size};
use crystal::app::signal::Signal;
use crystal::base::limits::QUEUE_MESSAGES_MAX;
use crystal::conversation::mode::Mode;
use crystal::conversation::round::{RoundEvent, StopReason};
use crystal::session::recovery::recover;
use crystal::session::snapshot::Snapshot;
use crystal::store::mem_disk::Unsynced;
use crystal::store::reader;
use proptest::prelude::*;

use crate::world::{World, shared, texts_waiting};
use crate::{checkers, end, generator};

impl World {
    fn press(&mut self, code: KeyCode) {
        self.happen(Event::Input(Input::Key(Key::plain(code)))).unwrap();
    }

    fn send(&mut self, text: &str) {
        self.happen(Event::Input(Input::Paste(text.to_owned()))).unwrap();
        self.press(KeyCode::Enter);
    }

    fn round_ends(&mut self) {
        let event = RoundEvent::End { stop: StopReason::EndTurn, usage: None };
        self.say(0, Said::Round(event), true).unwrap();
    }
}

fn in_mode(mode: Mode) -> World {
    (0..200).map(World::seeded).find(|world| world.app.front().state.mode == mode).unwrap()
}

#[test]
fn messages_that_wait_are_not_lost_by_clear() {
    let mut world = in_mode(Mode::Work);
    world.send("one");
    world.send("two");
    world.press(KeyCode::Esc);
    world.send("/clear");
    assert_eq!(texts_waiting(&world.app), ["two"]);
    checkers::check(&mut world).unwrap();
    world.press(KeyCode::Enter);
    assert_eq!(checkers::said(&world.app.front().state), ["two"]);
}

#[test]
fn clear_keeps_the_width_of_the_composer() {
    let mut world = in_mode(Mode::Work);
    world.happen(Event::Input(Input::Resize(Size { columns: 40, rows: 10 }))).unwrap();
    let width = world.app.front().composer.width();
    world.send("/clear");
    assert_eq!(world.app.front().composer.width(), width);
}

#[test]
fn a_session_begun_in_plan_mode_comes_back_in_plan_mode_from_its_archive_alone() {
    let mut world = in_mode(Mode::Plan);
    for clears in ["", "/clear"] {
        if !clears.is_empty() {
            world.round_ends();
            world.send(clears);
        }
        world.send("one");
        world.write(u64::MAX);
        let disk = world.disk.reboot(Unsynced::Kept);
        let id = world.app.front().id();
        let loaded = reader::load(&*shared(&disk), &world.home, id).unwrap();
        assert_eq!(loaded.state.mode, Mode::Plan, "{clears}");
    }
}

#[test]
fn a_message_that_the_full_queue_refuses_stays_in_the_composer() {
    let mut world = in_mode(Mode::Work);
    for number in 0..=QUEUE_MESSAGES_MAX {
        world.send(&format!("m{number}"));
    }
    world.send("one too many");
    assert_eq!(world.app.front().composer.text(), "one too many");
    checkers::check(&mut world).unwrap();
    // An idle turn takes all that waits, and this one.
    world.press(KeyCode::Esc);
    assert!(world.app.front().turn.is_idle());
    world.press(KeyCode::Enter);
    assert_eq!(checkers::said(&world.app.front().state).len(), QUEUE_MESSAGES_MAX + 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn replaying_the_archive_equals_the_snapshots_transcript(seed in any::<u64>(), steps in 1_u64..90) {
        let mut world = World::seeded(seed);
        for _ in 0..steps {
            generator::step(&mut world).unwrap();
            if world.exit.is_some() {
                break;
            }
        }
        if world.exit.is_none() {
            world.happen(Event::Signal(Signal::Terminate)).unwrap();
        }
        end(&mut world).unwrap();
        let disk = shared(&world.disk);
        let front = &world.app.front().state;
        let sessions = world.closed.iter().chain([front]);
        for state in sessions.filter(|state| state.transcript.is_worth_saving()) {
            let paths = world.home.session(state.id);
            let archive = disk.read(&paths.archive()).unwrap();
            let replayed = recover(state.id, None, Some(&archive)).unwrap();
            prop_assert!(replayed.repair.is_empty());
            // Only a rename that failed at the very end leaves an older snapshot, or none.
            let Ok(bytes) = disk.read(&paths.snapshot()) else { continue };
            let snapshot = Snapshot::from_bytes(&bytes).unwrap();
            if snapshot.archive.offset == archive.len() as u64 {
                let saved = snapshot.into_state();
                prop_assert_eq!(&saved.transcript, &replayed.state.transcript);
                prop_assert_eq!(saved.counters, replayed.state.counters);
            }
        }
    }
}
