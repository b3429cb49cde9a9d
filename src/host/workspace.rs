//! The full screen: one task that reads, routes, performs and draws.
//!
//! Invariants: a key is drawn at once, streamed text at most every [`FRAME_INTERVAL_MS`]; an idle workspace
//! wakes for nothing; the terminal is given back whatever ends the loop.

use std::io;

use ratatui::layout::Rect;
use tokio::sync::mpsc::Receiver;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::sleep_until;

use crate::app::App;
use crate::app::effect::{Capture, Effect, Exit, ScreenEffect};
use crate::app::event::{Event, Report, Said};
use crate::app::key::Input;
use crate::app::signal::Signal;
use crate::base::id::SessionId;
use crate::base::limits::{FRAME_INTERVAL_MS, REPORTS_PER_STEP_MAX};
use crate::base::time::Moment;
use crate::conversation::round::RoundEvent;
use crate::terminal::facts::Facts;
use crate::terminal::guard::{MouseCapture, TerminalGuard};
use crate::terminal::handoff;
use crate::terminal::input::InputReader;
use crate::terminal::out::{self, TerminalWriter};
use crate::terminal::screen::{self, Screen};
use crate::terminal::signals::Signals;
use crate::ui;
use crate::ui::cache::ViewCache;
use crate::ui::highlight::Highlighter;
use crate::ui::theme::Theme;
use crate::update::{next_wake, submit, update};

use super::launch::Launched;
use super::perform::{Host, Outward};

/// The terminal's side of the workspace.
pub struct Front {
    pub guard: TerminalGuard,
    pub facts: Facts,
    pub theme: Theme,
    /// What only the outside can do: history, trust.
    pub errands: Box<dyn FnMut(Errand) -> Option<Event>>,
}

impl std::fmt::Debug for Front {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Front").field("facts", &self.facts).finish_non_exhaustive()
    }
}

/// Something small to read or write outside of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Errand {
    Remember(String),
    Trust(std::path::PathBuf),
}

struct Workspace {
    app: App,
    host: Host,
    front: Front,
    screen: Screen,
    reader: InputReader,
    cache: ViewCache,
    /// The screen no longer shows the state; the frame is due then.
    frame_due: Option<Moment>,
    last_frame: Moment,
    exit: Option<Exit>,
    /// Ctrl+Z was pressed: done by the loop, which can wait.
    wants_suspend: bool,
    /// The terminal takes nothing any more.
    is_gone: bool,
    /// The session whose cells the cache holds.
    drawn_session: Option<SessionId>,
    syntaxes: Syntaxes,
}

/// The syntaxes are loaded beside the frame, once code is on the screen that wants them.
enum Syntaxes {
    Cold,
    Loading(JoinHandle<()>),
    Loaded,
}

impl Syntaxes {
    /// Returns when they have been loaded; code has its colours in the next frame.
    async fn loaded(&mut self) {
        match self {
            // A panic of the loader leaves code plain.
            Self::Loading(task) => drop(task.await),
            Self::Cold | Self::Loaded => std::future::pending().await,
        }
    }

    fn load_if_wanted(&mut self) {
        if matches!(self, Self::Cold) && Highlighter::is_wanted() {
            *self = Self::Loading(spawn_blocking(Highlighter::warm));
        }
    }
}

/// Runs the workspace until it is left; `prompt` is sent at once.
pub async fn run(
    launched: Launched,
    front: Front,
    prompt: Option<String>,
) -> io::Result<(App, Host, Exit)> {
    let Launched { app, host, mut events, first } = launched;
    let screen = Screen::new(&front.guard)?;
    let size = screen.size();
    let mut signals = Signals::listen()?;
    let mut workspace = Workspace {
        app,
        host,
        front,
        screen,
        reader: InputReader::new(),
        cache: ViewCache::default(),
        frame_due: None,
        last_frame: Moment(0),
        exit: None,
        wants_suspend: false,
        is_gone: false,
        drawn_session: None,
        syntaxes: Syntaxes::Cold,
    };
    workspace.on(Event::Input(Input::Resize(size)));
    workspace.perform(first);
    if let Some(prompt) = prompt {
        let at = workspace.host.clock.at();
        let effects = submit(&mut workspace.app, prompt, at);
        workspace.perform(effects);
    }
    workspace.draw();
    while workspace.exit.is_none() {
        let deadline = workspace.deadline();
        tokio::select! {
            biased;
            signal = signals.next() => workspace.on_signal(signal),
            input = workspace.reader.next(), if !workspace.is_gone => match input {
                // The size it was when the event was made; another may have come meanwhile.
                Ok(Input::Resize(_)) => workspace.on_window(),
                Ok(input) => workspace.on_input(input),
                Err(error) => workspace.or_hang_up(Err(error)),
            },
            event = events.recv() => {
                if let Some(event) = event {
                    workspace.on_reports(event, &mut events);
                }
            }
            () = workspace.syntaxes.loaded() => workspace.on_syntaxes(),
            () = wait(deadline.map(|moment| workspace.host.clock.instant(moment))) => {}
        }
        if std::mem::take(&mut workspace.wants_suspend) {
            workspace.suspend(&mut signals).await;
        }
        workspace.fire_timers();
        workspace.draw_if_due();
    }
    let Workspace { app, host, exit, .. } = workspace;
    Ok((app, host, exit.unwrap_or(Exit::Done)))
}

async fn wait(until: Option<tokio::time::Instant>) {
    match until {
        Some(until) => sleep_until(until).await,
        None => std::future::pending().await,
    }
}

impl Workspace {
    fn now(&self) -> Moment {
        self.host.clock.at().moment
    }

    /// The next moment at which something is due without an event.
    fn deadline(&self) -> Option<Moment> {
        let wake = next_wake(&self.app, self.last_frame);
        earliest(self.host.timers.next(), self.frame_due, wake)
    }

    fn on(&mut self, event: Event) {
        let effects = update(&mut self.app, event, self.host.clock.at());
        self.perform(effects);
    }

    /// A key or a resize is drawn at once: the person waits for it.
    fn on_input(&mut self, input: Input) {
        if let Input::Resize(size) = input {
            self.screen.resize(size);
        }
        self.on(Event::Input(input));
        self.frame_due = Some(Moment(0));
    }

    fn on_signal(&mut self, signal: Signal) {
        if signal == Signal::Window {
            return self.on_window();
        }
        if signal == Signal::Continue {
            let taken = self.front.guard.reenter().and_then(|()| self.redraw_all());
            self.or_hang_up(taken);
        }
        self.on(Event::Signal(signal));
    }

    /// The size as it is now, unless the input has told it already.
    fn on_window(&mut self) {
        match screen::terminal_size() {
            Ok(size) if size == self.screen.size() => {}
            Ok(size) => self.on_input(Input::Resize(size)),
            Err(error) => self.or_hang_up(Err(error)),
        }
    }

    /// The terminal is gone: what was said is saved, and the program ends.
    fn or_hang_up(&mut self, done: io::Result<()>) {
        if let Err(error) = done {
            tracing::warn!(%error, "the terminal is gone");
            self.is_gone = true;
            self.on(Event::Signal(Signal::Hangup));
        }
    }

    /// Takes what tasks said, up to a limit, and joins words of one reply that follow each other.
    fn on_reports(&mut self, first: Event, events: &mut Receiver<Event>) {
        let mut waiting = first;
        for _ in 0..REPORTS_PER_STEP_MAX {
            let Ok(next) = events.try_recv() else { break };
            match joined(waiting, next) {
                Ok(both) => waiting = both,
                Err(two) => {
                    let (earlier, later) = *two;
                    self.on(earlier);
                    waiting = later;
                }
            }
        }
        self.on(waiting);
        let due = self.last_frame.plus_ms(FRAME_INTERVAL_MS);
        self.frame_due = Some(self.frame_due.map_or(due, |earlier| earlier.min(due)));
    }

    fn on_syntaxes(&mut self) {
        self.syntaxes = Syntaxes::Loaded;
        self.frame_due = Some(Moment(0));
    }

    fn fire_timers(&mut self) {
        let now = self.now();
        while let Some(timer) = self.host.timers.take_due(now) {
            self.on(Event::Timer(timer));
            self.frame_due.get_or_insert(now);
        }
        let wakes = next_wake(&self.app, self.last_frame).is_some_and(|moment| moment <= now);
        if wakes {
            self.frame_due.get_or_insert(now);
        }
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match self.host.perform(effect) {
                None => {}
                Some(Outward::Screen(screen)) => self.on_screen(screen),
                Some(Outward::Remember(text)) => {
                    let text = self.host.writers.redactor().redact(text);
                    self.run_errand(Errand::Remember(text));
                }
                Some(Outward::Trust(path)) => self.run_errand(Errand::Trust(path)),
                Some(Outward::Exit(exit)) => self.exit = Some(exit),
            }
        }
    }

    fn run_errand(&mut self, errand: Errand) {
        if let Some(event) = (self.front.errands)(errand) {
            self.on(event);
        }
    }

    fn on_screen(&mut self, effect: ScreenEffect) {
        let sent = match effect {
            ScreenEffect::Copy(text) => match out::clipboard(&text, self.front.facts.multiplexer) {
                Ok(sequence) => TerminalWriter.send(&sequence),
                Err(error) => {
                    let at = self.host.clock.at();
                    self.app.hint(error.to_string(), at);
                    Ok(())
                }
            },
            ScreenEffect::Notify(text) => TerminalWriter.send(&out::notification(&text)),
            ScreenEffect::Bell => TerminalWriter.send(out::BELL),
            ScreenEffect::Title(text) => TerminalWriter.send(&out::title(&text)),
            ScreenEffect::MouseCapture(capture) => self.front.guard.set_mouse(match capture {
                Capture::On => MouseCapture::Captured,
                Capture::Off => MouseCapture::Free,
            }),
            ScreenEffect::Redraw => self.redraw_all(),
            ScreenEffect::Suspend => {
                self.wants_suspend = true;
                Ok(())
            }
        };
        // A terminal that takes nothing is found out at the next frame.
        if let Err(error) = sent {
            tracing::debug!(%error, "the terminal refused a sequence");
        }
    }

    async fn suspend(&mut self, signals: &mut Signals) {
        self.reader.pause();
        let resumed = handoff::suspend(&self.front.guard, signals).await;
        self.reader.resume();
        signals.forget_typed();
        let taken = resumed.and_then(|_| screen::terminal_size()).and_then(|size| {
            self.screen.resize(size);
            self.on(Event::Input(Input::Resize(size)));
            self.redraw_all()
        });
        self.or_hang_up(taken);
    }

    fn redraw_all(&mut self) -> io::Result<()> {
        // Whoever had the terminal meanwhile may have named the window.
        self.on_screen(ScreenEffect::Title(self.app.screen.title.clone()));
        self.frame_due = Some(Moment(0));
        self.screen.redraw_all()
    }

    fn draw_if_due(&mut self) {
        if self.frame_due.is_some_and(|due| due <= self.now()) {
            self.draw();
        }
    }

    fn draw(&mut self) {
        // In the background the terminal is another's; a frame is due again when it is ours.
        if self.is_gone || !crate::terminal::guard::is_entered() {
            self.frame_due = None;
            return;
        }
        let now = self.now();
        let drawn = self.draw_frame(now);
        self.frame_due = None;
        self.last_frame = now;
        self.syntaxes.load_if_wanted();
        self.or_hang_up(drawn);
    }

    fn draw_frame(&mut self, now: Moment) -> io::Result<()> {
        let session = self.app.front().id();
        if self.drawn_session.replace(session) != Some(session) {
            // Cells are named anew in each session.
            self.cache.clear();
        }
        let size = self.screen.size();
        let area = Rect::new(0, 0, size.columns, size.rows);
        let theme = &self.front.theme;
        let prepared = ui::prepare(&self.app, &mut self.cache, area, theme);
        if let Some(scroll) = prepared.scroll() {
            self.app.front_mut().scroll = scroll;
        }
        let app = &self.app;
        self.screen.draw(|frame| {
            let cursor = ui::draw(app, &prepared, theme, now, frame.buffer_mut());
            if let Some(cursor) = cursor {
                frame.set_cursor_position(cursor);
            }
        })
    }
}

/// The moment to wake at. A frame that is due anyway shows what the wake is for: were it waited for as well,
/// one that is past would turn the loop at full speed until the frame is due.
fn earliest(
    timer: Option<Moment>,
    frame_due: Option<Moment>,
    wake: Option<Moment>,
) -> Option<Moment> {
    timer.into_iter().chain(frame_due.or(wake)).min()
}

/// Joins two pieces of one text, so that a fast stream costs one update a frame and not one a word.
fn joined(earlier: Event, later: Event) -> Result<Event, Box<(Event, Event)>> {
    match (earlier, later) {
        (
            Event::Report(Report { task, said: Said::Round(RoundEvent::Text(mut text)) }),
            Event::Report(Report { task: same, said: Said::Round(RoundEvent::Text(more)) }),
        ) if task == same => {
            text.push_str(&more);
            Ok(Event::Report(Report { task, said: Said::Round(RoundEvent::Text(text)) }))
        }
        (earlier, later) => Err(Box::new((earlier, later))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The paced stream took 12 % of a core, most of it in this: a spinner's moment that was over while the
    // next frame was not due.
    #[test]
    fn a_wake_that_is_past_does_not_turn_the_loop_before_the_frame() {
        for (timer, frame_due, wake, wanted) in [
            (None, None, None, None),
            (None, None, Some(125), Some(125)),
            (None, Some(140), Some(125), Some(140)),
            (Some(130), Some(140), Some(125), Some(130)),
            (Some(130), None, Some(125), Some(125)),
        ] {
            let [timer, frame_due, wake, wanted] =
                [timer, frame_due, wake, wanted].map(|m| m.map(Moment));
            assert_eq!(earliest(timer, frame_due, wake), wanted);
        }
    }
}
