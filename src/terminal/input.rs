//! What crossterm reports, as [`Input`].
//!
//! Invariants: a release is never a key (T13); one meaning has one spelling, so that a binding need not
//! know the terminal; a paste is one piece of text and never acts as keys; the answer to a query, however
//! late, never becomes keys.
//! Not here: what a key does (`app::keymap`).

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::task::Poll;
use std::time::Duration;

use crossterm::event::{
    Event, EventStream, KeyCode as RawCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEvent,
    MouseEventKind,
};
use futures_util::StreamExt as _;
use futures_util::stream::{SelectAll, select_all};
use tokio::sync::oneshot;

use super::hangup;
use crate::app::key::{Focused, Input, Key, KeyCode, Mouse, MouseAct, Size};

/// Reads the terminal until it is paused.
#[derive(Debug, Default)]
pub struct InputReader {
    /// One stream, asked only after it woke: each question takes a lock that its own thread holds while it
    /// waits, and a loop with many other events would spin on it.
    stream: Option<SelectAll<EventStream>>,
    answers: AnswerFilter,
    ready: VecDeque<Input>,
    /// Resolves when the terminal is gone.
    gone: Option<oneshot::Receiver<()>>,
}

impl InputReader {
    /// Must run after the terminal was entered: in cooked mode Ctrl+J and Enter look the same.
    pub fn new() -> Self {
        Self { stream: Some(woken_only()), gone: Some(hangup::watch()), ..Self::default() }
    }

    /// Stops reading, so that another program gets all keys.
    pub fn pause(&mut self) {
        if self.stream.take().is_some() {
            // Dropping the stream leaves a wake-up behind. Taken together with a key after resuming, it would
            // hide that key until the next one (crossterm 0.29), so it is taken now.
            std::thread::yield_now();
            let _ = crossterm::event::poll(Duration::ZERO);
        }
    }

    pub fn resume(&mut self) {
        self.stream.get_or_insert_with(woken_only);
    }

    /// A query was written: what answers it will be dropped.
    pub fn expect_answer(&mut self) {
        self.answers.expected = self.answers.expected.saturating_add(1);
    }

    /// The next input; waits for ever while paused. May be dropped and called again without losing one.
    ///
    /// Fails when the terminal is gone.
    pub async fn next(&mut self) -> io::Result<Input> {
        loop {
            if let Some(input) = self.ready.pop_front() {
                return Ok(input);
            }
            let event = self.event().await?;
            if let Some(input) = input_of(event) {
                self.ready.extend(self.answers.pass(input));
            }
        }
    }
}

impl InputReader {
    /// The next event of the terminal; an error once it is gone.
    async fn event(&mut self) -> io::Result<Event> {
        let Self { stream, gone, .. } = self;
        let ended = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let next = poll_fn(|context| {
            let Some(stream) = stream else { return Poll::Pending };
            // Asked of a terminal that is gone, crossterm would read for ever.
            if hangup::is_gone() {
                return Poll::Ready(Err(ended()));
            }
            stream.poll_next_unpin(context).map(|event| event.ok_or_else(ended)?)
        });
        match gone {
            None => next.await,
            Some(told) => tokio::select! {
                biased;
                word = told => {
                    // A watcher that could not start never says a word.
                    self.gone = None;
                    if word.is_ok() { Err(ended()) } else { Box::pin(self.event()).await }
                }
                event = next => event,
            },
        }
    }
}

fn woken_only() -> SelectAll<EventStream> {
    select_all([EventStream::new()])
}

/// Returns what an event means to the workspace; `None` for what it does not use.
pub fn input_of(event: Event) -> Option<Input> {
    match event {
        Event::Key(key) => key_of(key).map(Input::Key),
        Event::Paste(text) => Some(Input::Paste(line_feeds_only(text))),
        Event::Resize(columns, rows) => Some(Input::Resize(Size { columns, rows })),
        Event::FocusGained => Some(Input::Focus(Focused::Gained)),
        Event::FocusLost => Some(Input::Focus(Focused::Lost)),
        Event::Mouse(mouse) => mouse_of(mouse).map(Input::Mouse),
    }
}

fn line_feeds_only(text: String) -> String {
    // Terminals send the ends of lines in a paste as CR, some as CRLF.
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text }
}

fn mouse_of(mouse: MouseEvent) -> Option<Mouse> {
    let act = match mouse.kind {
        MouseEventKind::ScrollUp => MouseAct::WheelUp,
        MouseEventKind::ScrollDown => MouseAct::WheelDown,
        MouseEventKind::Down(_) => MouseAct::Press,
        MouseEventKind::Up(_) => MouseAct::Release,
        MouseEventKind::Drag(_)
        | MouseEventKind::Moved
        | MouseEventKind::ScrollLeft
        | MouseEventKind::ScrollRight => return None,
    };
    Some(Mouse { column: mouse.column, row: mouse.row, act })
}

fn key_of(event: KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    // The window manager's keys do not type.
    if event.modifiers.intersects(KeyModifiers::SUPER | KeyModifiers::HYPER | KeyModifiers::META) {
        return None;
    }
    let key = Key {
        code: code_of(event.code)?,
        ctrl: event.modifiers.contains(KeyModifiers::CONTROL),
        alt: event.modifiers.contains(KeyModifiers::ALT),
        shift: event.modifiers.contains(KeyModifiers::SHIFT),
        is_repeat: event.kind == KeyEventKind::Repeat,
    };
    Some(match key.code {
        KeyCode::Char(typed) => char_key(key, typed),
        KeyCode::Tab if key.shift => Key { code: KeyCode::BackTab, shift: false, ..key },
        KeyCode::BackTab => Key { shift: false, ..key },
        _ => key,
    })
}

/// One spelling for each key with a character.
fn char_key(key: Key, typed: char) -> Key {
    // AltGr arrives as Ctrl and Alt together; what it types is no plain letter or digit.
    if key.ctrl && key.alt && !typed.is_ascii_alphanumeric() {
        return Key { is_repeat: key.is_repeat, ..Key::plain(KeyCode::Char(typed)) };
    }
    if !key.ctrl {
        let typed = if key.shift && typed.is_ascii_lowercase() {
            typed.to_ascii_uppercase()
        } else {
            typed
        };
        return Key { code: KeyCode::Char(typed), shift: false, ..key };
    }
    // The keyboard protocol tells these pairs apart, other terminals cannot; a binding must not depend on it.
    let same = match (typed.to_ascii_lowercase(), key.shift) {
        ('[', false) => Some(KeyCode::Esc),
        ('i', false) => Some(KeyCode::Tab),
        ('m', false) => Some(KeyCode::Enter),
        ('h', false) => Some(KeyCode::Backspace),
        _ => None,
    };
    match same {
        Some(code) => Key { code, ctrl: false, ..key },
        None => Key { code: KeyCode::Char(typed.to_ascii_lowercase()), ..key },
    }
}

fn code_of(code: RawCode) -> Option<KeyCode> {
    Some(match code {
        RawCode::Char(typed) => KeyCode::Char(typed),
        RawCode::Enter => KeyCode::Enter,
        RawCode::Esc => KeyCode::Esc,
        RawCode::Tab => KeyCode::Tab,
        RawCode::BackTab => KeyCode::BackTab,
        RawCode::Backspace => KeyCode::Backspace,
        RawCode::Delete => KeyCode::Delete,
        RawCode::Insert => KeyCode::Insert,
        RawCode::Left => KeyCode::Left,
        RawCode::Right => KeyCode::Right,
        RawCode::Up => KeyCode::Up,
        RawCode::Down => KeyCode::Down,
        RawCode::Home => KeyCode::Home,
        RawCode::End => KeyCode::End,
        RawCode::PageUp => KeyCode::PageUp,
        RawCode::PageDown => KeyCode::PageDown,
        RawCode::F(number) => KeyCode::Function(number),
        RawCode::Null
        | RawCode::CapsLock
        | RawCode::ScrollLock
        | RawCode::NumLock
        | RawCode::PrintScreen
        | RawCode::Pause
        | RawCode::Menu
        | RawCode::KeypadBegin
        | RawCode::Media(_)
        | RawCode::Modifier(_) => return None,
    })
}

/// Characters of an answer: the longest known one, a colour, has under 30.
const ANSWER_KEYS_MAX: usize = 64;

/// Drops answers to queries: crossterm, which does not know the strings OSC and DCS, reports them as
/// `Alt+]` or `Alt+P`, then letters, then `Alt+\` or Ctrl+G.
///
/// Acts only while an answer is owed, so that a person's `Alt+]` is never held back without a cause.
#[derive(Debug, Default)]
struct AnswerFilter {
    expected: u8,
    held: Vec<Input>,
}

impl AnswerFilter {
    /// Returns what is input after all.
    fn pass(&mut self, input: Input) -> Vec<Input> {
        let Input::Key(key) = input else { return vec![input] };
        if self.expected == 0 {
            return vec![input];
        }
        if self.held.is_empty() {
            if !begins_answer(key) {
                return vec![input];
            }
            self.held.push(input);
            return Vec::new();
        }
        if ends_answer(key) {
            self.held.clear();
            self.expected -= 1;
            return Vec::new();
        }
        let is_first = self.held.len() == 1;
        self.held.push(input);
        if belongs_to_answer(key, is_first) && self.held.len() <= ANSWER_KEYS_MAX {
            return Vec::new();
        }
        std::mem::take(&mut self.held)
    }
}

fn begins_answer(key: Key) -> bool {
    key.alt && !key.ctrl && matches!(key.code, KeyCode::Char(']' | 'P'))
}

fn ends_answer(key: Key) -> bool {
    key == Key::ctrl('g') || key == Key::alt(KeyCode::Char('\\'))
}

fn belongs_to_answer(key: Key, is_first: bool) -> bool {
    match key.code {
        KeyCode::Char(typed) if !key.ctrl && !key.alt => {
            if is_first {
                typed.is_ascii_digit() || matches!(typed, '>' | '!')
            } else {
                typed.is_ascii_graphic()
            }
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use KeyEventKind::{Press, Release, Repeat};

    const NONE: KeyModifiers = KeyModifiers::NONE;
    const CTRL: KeyModifiers = KeyModifiers::CONTROL;
    const ALT: KeyModifiers = KeyModifiers::ALT;
    const SHIFT: KeyModifiers = KeyModifiers::SHIFT;

    fn event(code: RawCode, modifiers: KeyModifiers, kind: KeyEventKind) -> Event {
        Event::Key(KeyEvent::new_with_kind(code, modifiers, kind))
    }

    fn key(code: RawCode, modifiers: KeyModifiers) -> Option<Key> {
        match input_of(event(code, modifiers, Press)) {
            Some(Input::Key(key)) => Some(key),
            _ => None,
        }
    }

    // T13
    #[test]
    fn only_presses_and_repeats_are_keys() {
        for code in
            [RawCode::Char('a'), RawCode::Char('y'), RawCode::Enter, RawCode::Esc, RawCode::Up]
        {
            assert_eq!(input_of(event(code, NONE, Release)), None, "{code:?}");
            for (kind, wanted) in [(Press, false), (Repeat, true)] {
                let Some(Input::Key(key)) = input_of(event(code, NONE, kind)) else {
                    panic!("{code:?} {kind:?} is no key")
                };
                assert_eq!(key.is_repeat, wanted, "{code:?}");
            }
        }
    }

    // T13: on a German layout @, { and € come as Ctrl+Alt on some systems and bare on others.
    #[test]
    fn characters_of_altgr_are_typed() {
        for typed in ['@', '{', '€', '\\', 'ą'] {
            for modifiers in [NONE, CTRL | ALT] {
                assert_eq!(
                    key(RawCode::Char(typed), modifiers),
                    Some(Key::plain(KeyCode::Char(typed)))
                );
            }
        }
    }

    #[test]
    fn each_key_has_one_spelling() {
        for (code, modifiers, wanted) in [
            (RawCode::Char('c'), CTRL, Key::ctrl('c')),
            (RawCode::Char('C'), CTRL, Key::ctrl('c')),
            (RawCode::Char('C'), CTRL | SHIFT, Key { shift: true, ..Key::ctrl('c') }),
            (RawCode::Char('A'), SHIFT, Key::plain(KeyCode::Char('A'))),
            (RawCode::Char('a'), SHIFT, Key::plain(KeyCode::Char('A'))),
            (RawCode::Char('B'), ALT | SHIFT, Key::alt(KeyCode::Char('B'))),
            (RawCode::Char('i'), CTRL, Key::plain(KeyCode::Tab)),
            (RawCode::Char('m'), CTRL, Key::plain(KeyCode::Enter)),
            (RawCode::Char('['), CTRL, Key::plain(KeyCode::Esc)),
            (RawCode::Char('h'), CTRL, Key::plain(KeyCode::Backspace)),
            (RawCode::Char('j'), CTRL, Key::ctrl('j')),
            (RawCode::Enter, SHIFT, Key::shift(KeyCode::Enter)),
            (RawCode::Enter, ALT, Key::alt(KeyCode::Enter)),
            (RawCode::Enter, NONE, Key::plain(KeyCode::Enter)),
            (RawCode::BackTab, SHIFT, Key::plain(KeyCode::BackTab)),
            (RawCode::Tab, SHIFT, Key::plain(KeyCode::BackTab)),
            (RawCode::F(2), NONE, Key::plain(KeyCode::Function(2))),
        ] {
            assert_eq!(key(code, modifiers), Some(wanted), "{code:?} {modifiers:?}");
        }
    }

    #[test]
    fn keys_of_the_window_manager_do_not_type() {
        assert_eq!(key(RawCode::Char('v'), KeyModifiers::SUPER), None);
        assert_eq!(key(RawCode::CapsLock, NONE), None);
    }

    #[test]
    fn a_paste_has_line_feeds_only() {
        let pasted = input_of(Event::Paste("a\r\nb\rc\nd\r\n\r\n".to_owned()));
        assert_eq!(pasted, Some(Input::Paste("a\nb\nc\nd\n\n".to_owned())));
    }

    #[test]
    fn movements_of_the_mouse_are_nothing() {
        let mouse = |kind| Event::Mouse(MouseEvent { kind, column: 3, row: 4, modifiers: NONE });
        assert_eq!(input_of(mouse(MouseEventKind::Moved)), None);
        assert_eq!(
            input_of(mouse(MouseEventKind::ScrollUp)),
            Some(Input::Mouse(Mouse { column: 3, row: 4, act: MouseAct::WheelUp }))
        );
    }

    /// Types `text` with `<` and `>` around Alt keys and `^` for Ctrl+G, and returns what comes through.
    fn through(expected: u8, text: &str) -> String {
        let mut filter = AnswerFilter { expected, held: Vec::new() };
        let mut shown = String::new();
        let mut is_alt = false;
        for typed in text.chars() {
            let key = match typed {
                '<' => {
                    is_alt = true;
                    continue;
                }
                '^' => Key::ctrl('g'),
                _ if is_alt => Key::alt(KeyCode::Char(typed)),
                _ => Key::plain(KeyCode::Char(typed)),
            };
            is_alt = false;
            for input in filter.pass(Input::Key(key)) {
                let Input::Key(Key { code: KeyCode::Char(typed), .. }) = input else { continue };
                shown.push(typed);
            }
        }
        shown
    }

    // T12: the late bytes of an answer do not land in the composer.
    #[test]
    fn an_answer_is_dropped_and_what_a_person_types_is_not() {
        for (expected, typed, wanted) in [
            (1, "ab<]11;rgb:1e1e/1e1e/2e2e<\\cd", "abcd"),
            (1, "ab<]11;rgb:1e1e/1e1e/2e2e^cd", "abcd"),
            (1, "<P>|tmux<\\x", "x"),
            (2, "<]10;rgb:ffff/ffff/ffff<\\<]11;rgb:0/0/0<\\x", "x"),
            (1, "<]hello", "]hello"),
            (1, "<]1 x", "]1 x"),
            (0, "<]11;x<\\", "]11;x\\"),
            (1, "x", "x"),
        ] {
            assert_eq!(through(expected, typed), wanted, "{typed}");
        }
    }
}
