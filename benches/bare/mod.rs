//! A whole workspace without terminal, disk and network: what happens between an event and the bytes of a frame.

#![allow(
    dead_code,
    clippy::expect_used,
    reason = "each bench uses a part; one that cannot run stops"
)]

use std::io::Sink;
use std::path::PathBuf;
use std::sync::Arc;

use crystal::app::App;
use crystal::app::effect::{Effect, Job};
use crystal::app::event::{Event, Report, Said};
use crystal::app::key::{Input, Key, KeyCode, Size};
use crystal::base::id::TaskId;
use crystal::base::time::{At, Moment, Timestamp};
use crystal::config::schema::Config;
use crystal::conversation::round::RoundEvent;
use crystal::host::launch::{Launched, Setup, launch};
use crystal::terminal::screen::Screen;
use crystal::turn::Attended;
use crystal::ui::cache::ViewCache;
use crystal::ui::theme::{BUILTIN, ColourDepth, Theme, load};
use crystal::update::{submit, update};
use ratatui::layout::Rect;

pub const SIZE: Size = Size { columns: 120, rows: 40 };

/// Lines of markdown, at least this many bytes.
pub fn document(bytes: usize) -> String {
    let sample = include_str!("../../tests/data/sample.md");
    sample.repeat(bytes / sample.len() + 1)
}

pub struct Bare {
    pub app: App,
    cache: ViewCache,
    screen: Screen<Sink>,
    theme: Theme,
    now: u64,
    _launched: (crystal::host::perform::Host, tokio::sync::mpsc::Receiver<Event>),
}

impl Bare {
    /// A new session in a folder that does not exist, so that nothing of this machine is read.
    pub fn new() -> Self {
        let nowhere = PathBuf::from("/nonexistent");
        let setup = Setup {
            home: nowhere.join("home"),
            user_home: None,
            workspace: nowhere.join("workspace"),
            is_trusted: false,
            config: Config::default(),
            environment: Arc::new(|_| None),
            attended: Attended::ByPerson,
            rounds_max: None,
            opened: None,
            model: None,
            mode: None,
            warnings: Vec::new(),
        };
        let Launched { app, host, events, .. } = launch(setup);
        let theme = load(BUILTIN[0].1).expect("a bench has what it needs");
        let mut bare = Self {
            app,
            cache: ViewCache::default(),
            screen: Screen::on(std::io::sink(), SIZE).expect("a bench has what it needs"),
            theme: Theme::resolve(&theme, ColourDepth::TrueColour),
            now: 0,
            _launched: (host, events),
        };
        bare.on(Event::Input(Input::Resize(SIZE)));
        bare
    }

    fn at(&self) -> At {
        let wall = Timestamp::from_millis(1_792_661_000_000 + self.now as i64);
        At { moment: Moment(self.now), wall }
    }

    /// Routes an event, a millisecond after the one before. Effects go nowhere.
    pub fn on(&mut self, event: Event) {
        self.now += 1;
        let at = self.at();
        drop(update(&mut self.app, event, at));
    }

    pub fn key(&mut self, code: KeyCode) {
        self.on(Event::Input(Input::Key(Key::plain(code))));
    }

    pub fn resize(&mut self, size: Size) {
        self.screen.resize(size);
        self.on(Event::Input(Input::Resize(size)));
    }

    /// Sends a message; returns the task whose reply is awaited.
    pub fn ask(&mut self) -> TaskId {
        let at = self.at();
        let effects = submit(&mut self.app, "go on".to_owned(), at);
        let task = effects.iter().find_map(|effect| match effect {
            Effect::Start(task, Job::Round { .. }) => Some(*task),
            _ => None,
        });
        let task = task.expect("a bench has what it needs");
        self.say(task, RoundEvent::Accepted);
        task
    }

    pub fn say(&mut self, task: TaskId, event: RoundEvent) {
        self.on(Event::Report(Report { task, said: Said::Round(event) }));
    }

    /// Draws as the loop does.
    pub fn draw(&mut self) {
        let Size { columns, rows } = self.screen.size();
        let area = Rect::new(0, 0, columns, rows);
        let prepared = crystal::ui::prepare(&self.app, &mut self.cache, area, &self.theme);
        if let Some(scroll) = prepared.scroll() {
            self.app.front_mut().scroll = scroll;
        }
        let (app, theme, now) = (&self.app, &self.theme, Moment(self.now));
        let drawn = self.screen.draw(|frame| {
            let cursor = crystal::ui::draw(app, &prepared, theme, now, frame.buffer_mut());
            if let Some(cursor) = cursor {
                frame.set_cursor_position(cursor);
            }
        });
        drawn.expect("a bench has what it needs");
    }
}
