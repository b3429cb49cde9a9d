//! The whole workspace without a host: keys and scripted reports in, frames out.
//!
//! `update` is driven as the event loop drives it. What it wants started waits here until the test says
//! what came of it, so every moment of a turn can be looked at. Time goes on with each key only.

#![allow(dead_code, reason = "each test uses its part of the harness")]

use crystal::app::approvals::Approvals;
use crystal::app::composer::{Composer, text_columns};
use crystal::app::effect::{Effect, Job, ScreenEffect};
use crystal::app::event::{Event, Report, Said};
use crystal::app::key::{Focused, Input, Key, KeyCode, Size};
use crystal::app::keymap::{Keymap, parse_key};
use crystal::app::live::{LiveSession, RequestFrame};
use crystal::app::models::Models;
use crystal::app::options::Options;
use crystal::app::workspace::Workspace as Folder;
use crystal::app::{App, Start};
use crystal::approval::action::{Action, Place, Prepared, Preview, Target};
use crystal::base::id::{CallId, Ids, TaskId};
use crystal::base::time::{At, Moment, Timestamp};
use crystal::command::registry;
use crystal::conversation::gear::Gear;
use crystal::conversation::message::ToolUse;
use crystal::conversation::model::{ModelChoice, ModelLimits, ModelSpec};
use crystal::conversation::round::{RoundError, RoundEvent, StopReason};
use crystal::conversation::tool_call::{ToolEvent, ToolOutcome};
use crystal::session::state::SessionState;
use crystal::ui;
use crystal::ui::cache::ViewCache;
use crystal::ui::theme::Theme;
use crystal::update::update;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::Value;

/// Milliseconds between two keys: more than a question needs before it takes one.
const KEY_MS: u64 = 400;

/// 2026-12-01, noon.
const BEGIN_WALL_MS: i64 = 1_796_126_400_000;

/// A workspace under test.
pub struct Workspace {
    pub app: App,
    pub screen: Vec<ScreenEffect>,
    started: Vec<(TaskId, Job)>,
    cache: ViewCache,
    now: Moment,
    calls: usize,
}

impl Workspace {
    /// An empty session of the offline demo in `~/proj`.
    pub fn at(columns: u16, rows: u16) -> Self {
        let mut ids = Ids::seeded(7);
        let wall = Timestamp::from_millis(BEGIN_WALL_MS);
        let folder = Folder {
            shown: "~/proj".to_owned(),
            branch: Some("main".to_owned()),
            ..Folder::at("/home/me/proj")
        };
        let state = SessionState::new(ids.session(wall), folder.path.clone(), wall);
        let model = ModelChoice {
            provider: "offline".to_owned(),
            id: "demo".to_owned(),
            thinking_effort: Gear::Default,
        };
        let mut composer = Composer::default();
        composer.set_width(text_columns(columns));
        let frame = RequestFrame::new(String::new(), Vec::new());
        let options =
            Options { version: "0.0.0", commands: registry::rows(), ..Options::default() };
        let start = Start {
            options,
            models: Models::new(
                vec![spec("offline", "demo"), spec("ollama", "qwen3:8b")],
                vec!["offline".to_owned(), "ollama".to_owned()],
            ),
            workspace: folder,
            approvals: Approvals::default(),
            keymap: Keymap::default(),
            ids,
        };
        let mut workspace = Self {
            app: App::new(start, LiveSession::new(state, model, frame, composer)),
            screen: Vec::new(),
            started: Vec::new(),
            cache: ViewCache::default(),
            now: Moment(0),
            calls: 0,
        };
        workspace.resize(columns, rows);
        workspace
    }

    pub fn resize(&mut self, columns: u16, rows: u16) -> &mut Self {
        self.on(Event::Input(Input::Resize(Size { columns, rows })))
    }

    pub fn focus(&mut self, focused: Focused) -> &mut Self {
        self.on(Event::Input(Input::Focus(focused)))
    }

    /// Types text in which `<enter>`, `<ctrl+o>` and the like are keys.
    pub fn keys(&mut self, text: &str) -> &mut Self {
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let named = rest.strip_prefix('<').and_then(|tail| tail.split_once('>'));
            let named = named.and_then(|(name, tail)| Some((parse_key(name)?, tail)));
            let typed = (Key::plain(KeyCode::Char(letter)), &rest[letter.len_utf8()..]);
            let (key, tail) = named.unwrap_or(typed);
            rest = tail;
            self.now = self.now.plus_ms(KEY_MS);
            self.on(Event::Input(Input::Key(key)));
        }
        self
    }

    pub fn paste(&mut self, text: &str) -> &mut Self {
        self.on(Event::Input(Input::Paste(text.to_owned())))
    }

    /// The model writes.
    pub fn says(&mut self, text: &str) -> &mut Self {
        self.round(RoundEvent::Text(text.to_owned()))
    }

    /// The model is writing a call.
    pub fn writes_call(&mut self, name: &str, bytes: usize) -> &mut Self {
        self.round(RoundEvent::CallProgress { name: Some(name.to_owned()), bytes })
    }

    /// The model calls a tool.
    pub fn calls(&mut self, name: &str, input: Value) -> &mut Self {
        self.calls += 1;
        let id = CallId::new(format!("call-{}", self.calls));
        self.round(RoundEvent::Call(ToolUse { id, name: name.to_owned(), input }))
    }

    /// The reply is whole.
    pub fn ends(&mut self, stop: StopReason) -> &mut Self {
        self.round(RoundEvent::End { stop, usage: None })
    }

    pub fn fails(&mut self, error: RoundError) -> &mut Self {
        self.round(RoundEvent::Failed(error))
    }

    /// The oldest call that is looked at turns out to do this.
    pub fn is_prepared(&mut self, action: Action, preview: Preview) -> &mut Self {
        let (task, call) = self.take(|job| match job {
            Job::Prepare { call, .. } => Some(call.clone()),
            Job::Round { .. } | Job::Tool { .. } => None,
        });
        let prepared = Prepared { call, action, preview, guard: None, is_independent: false };
        self.report(task, Said::Prepared(Ok(Box::new(prepared))))
    }

    /// The running call writes output.
    pub fn tool_says(&mut self, text: &str) -> &mut Self {
        let task = self.find(|job| matches!(job, Job::Tool { .. }));
        self.report(task, Said::Tool(ToolEvent::Output(text.to_owned())))
    }

    /// The oldest running call is done.
    pub fn tool_ends(&mut self, outcome: ToolOutcome) -> &mut Self {
        let (task, ()) = self.take(|job| matches!(job, Job::Tool { .. }).then_some(()));
        self.report(task, Said::Tool(ToolEvent::Done(outcome)))
    }

    /// A call that needs no answer, from its beginning to its end.
    pub fn tool(
        &mut self,
        name: &str,
        input: Value,
        path: &str,
        outcome: ToolOutcome,
    ) -> &mut Self {
        self.calls(name, input).ends(StopReason::ToolUse);
        self.is_prepared(Action::Read(inside(path)), Preview::Path(path.to_owned()));
        self.tool_ends(outcome)
    }

    /// The screen as text, with the cursor's place below it.
    pub fn frame(&mut self) -> String {
        let size = self.app.screen.size;
        let area = Rect::new(0, 0, size.columns, size.rows);
        let theme = Theme::plain();
        let prepared = ui::prepare(&self.app, &mut self.cache, area, &theme);
        if let Some(scroll) = prepared.scroll() {
            self.app.front_mut().scroll = scroll;
        }
        let mut buffer = Buffer::empty(area);
        let cursor = ui::draw(&self.app, &prepared, &theme, self.now, &mut buffer);
        text_of(&buffer, cursor)
    }

    fn round(&mut self, event: RoundEvent) -> &mut Self {
        let task = self.find(|job| matches!(job, Job::Round { .. }));
        self.report(task, Said::Round(event))
    }

    fn report(&mut self, task: TaskId, said: Said) -> &mut Self {
        self.on(Event::Report(Report { task, said }))
    }

    fn on(&mut self, event: Event) -> &mut Self {
        let wall = i64::try_from(self.now.0).unwrap_or(i64::MAX);
        let at = At { moment: self.now, wall: Timestamp::from_millis(BEGIN_WALL_MS + wall) };
        for effect in update(&mut self.app, event, at) {
            match effect {
                Effect::Start(task, job) => {
                    // A session has one round at a time.
                    if matches!(job, Job::Round { .. }) {
                        self.started.retain(|(_, job)| !matches!(job, Job::Round { .. }));
                    }
                    self.started.push((task, job));
                }
                Effect::Screen(screen) => self.screen.push(screen),
                Effect::Store(..)
                | Effect::Stop(_)
                | Effect::Timer(..)
                | Effect::Remember(_)
                | Effect::Trust(_)
                | Effect::Exit(_) => {}
            }
        }
        self
    }

    fn find(&self, is_it: impl Fn(&Job) -> bool) -> TaskId {
        let found = self.started.iter().find(|(_, job)| is_it(job));
        found.unwrap_or_else(|| panic!("nothing of this kind was started")).0
    }

    fn take<T>(&mut self, wanted: impl Fn(&Job) -> Option<T>) -> (TaskId, T) {
        let place = self.started.iter().position(|(_, job)| wanted(job).is_some());
        let (task, job) = self.started.remove(place.unwrap_or_else(|| panic!("not started")));
        let found = wanted(&job).unwrap_or_else(|| panic!("not started"));
        (task, found)
    }
}

/// A path of the workspace.
pub fn inside(path: &str) -> Target {
    Target {
        shown: path.to_owned(),
        real: format!("/home/me/proj/{path}").into(),
        place: Place::Workspace,
    }
}

fn spec(provider: &str, id: &str) -> ModelSpec {
    ModelSpec {
        provider: provider.to_owned(),
        id: id.to_owned(),
        limits: ModelLimits { context_window: 32_768, max_tokens: Some(4_096) },
        gears: Vec::new(),
        thinking_off_allowed: false,
        images: false,
        price: None,
    }
}

/// The cells as text; a wide character stands once.
fn text_of(buffer: &Buffer, cursor: Option<Position>) -> String {
    let mut text = String::new();
    for y in buffer.area.top()..buffer.area.bottom() {
        let mut row = String::new();
        let mut skip = 0;
        for x in buffer.area.left()..buffer.area.right() {
            let symbol = buffer[(x, y)].symbol();
            if skip == 0 {
                row.push_str(symbol);
                skip = crystal::base::text::width::columns(symbol).max(1);
            }
            skip -= 1;
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    match cursor {
        Some(at) => text + &format!("cursor at column {}, row {}\n", at.x, at.y),
        None => text + "no cursor\n",
    }
}
