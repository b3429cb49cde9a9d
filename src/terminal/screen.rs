//! Frames on the terminal.
//!
//! Invariants: a frame reaches the terminal in one write, between the marks of a synchronized update; a
//! frame that changes nothing writes nothing (T11); the whole screen is cleared only when its size changed
//! or another program drew on it.
//! Not here: what a frame shows (`ui`).

use std::io::{self, Write};

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::queue;
use crossterm::terminal::{Clear, ClearType as RawClear};
use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size as Area};
use ratatui::{Frame, Terminal};

use super::guard::TerminalGuard;
use super::out::{FRAME_BEGIN, FRAME_END, TerminalWriter};
use crate::app::key::Size;

/// The drawing surface: the terminal, or in tests any writer.
#[derive(Debug)]
pub struct Screen<W: Write = TerminalWriter> {
    terminal: Terminal<FrameBackend<W>>,
}

impl Screen<TerminalWriter> {
    /// The guard is asked for because drawing makes sense only after entering.
    pub fn new(_entered: &TerminalGuard) -> io::Result<Self> {
        Self::on(TerminalWriter, terminal_size()?)
    }
}

/// The terminal's size now; 80×24 where it has none to tell.
pub fn terminal_size() -> io::Result<Size> {
    let (columns, rows) = crossterm::terminal::size()?;
    let is_known = columns > 0 && rows > 0;
    Ok(if is_known { Size { columns, rows } } else { Size { columns: 80, rows: 24 } })
}

impl<W: Write> Screen<W> {
    pub fn on(out: W, size: Size) -> io::Result<Self> {
        Ok(Self { terminal: Terminal::new(FrameBackend::new(out, size))? })
    }

    /// Draws a frame and sends what differs from the frame before.
    pub fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(render).map(|_| ())
    }

    /// The size changed: the next frame has it and draws everything.
    pub fn resize(&mut self, size: Size) {
        // ratatui compares this with the size of its last frame and clears by itself.
        self.terminal.backend_mut().size = area(size);
    }

    /// Another program drew here: the next frame draws everything.
    pub fn redraw_all(&mut self) -> io::Result<()> {
        self.terminal.backend_mut().cursor = Cursor::Unknown;
        self.terminal.clear()
    }

    pub fn size(&self) -> Size {
        let Area { width, height } = self.terminal.backend().size;
        Size { columns: width, rows: height }
    }
}

fn area(size: Size) -> Area {
    Area { width: size.columns, height: size.rows }
}

/// Where the terminal's cursor is, as far as this program put it there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cursor {
    Unknown,
    Hidden,
    /// Shown, somewhere.
    Shown,
    At(Position),
}

/// Collects a frame and sends it whole.
///
/// ratatui's own backend writes a reset and the cursor for every frame, and asks the system for the size;
/// so the cursor and the size are kept here, and only cells go through it.
#[derive(Debug)]
struct FrameBackend<W> {
    out: W,
    /// Begins with [`FRAME_BEGIN`]. Dropped, not sent, if a panic comes in the middle of a frame.
    frame: Vec<u8>,
    size: Area,
    cursor: Cursor,
}

impl<W: Write> FrameBackend<W> {
    fn new(out: W, size: Size) -> Self {
        Self { out, frame: FRAME_BEGIN.to_vec(), size: area(size), cursor: Cursor::Unknown }
    }
}

impl<W: Write> Backend for FrameBackend<W> {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut content = content.peekable();
        if content.peek().is_none() {
            return Ok(());
        }
        // Where updates are not synchronized the cursor would be seen running over the cells.
        self.hide_cursor()?;
        CrosstermBackend::new(&mut self.frame).draw(content)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        if self.cursor != Cursor::Hidden {
            queue!(self.frame, Hide)?;
            self.cursor = Cursor::Hidden;
        }
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        if matches!(self.cursor, Cursor::Hidden | Cursor::Unknown) {
            queue!(self.frame, Show)?;
            self.cursor = Cursor::Shown;
        }
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        // The terminal is never asked: its answer could come after the next key.
        Ok(match self.cursor {
            Cursor::At(position) => position,
            Cursor::Unknown | Cursor::Hidden | Cursor::Shown => Position::ORIGIN,
        })
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let position = position.into();
        if self.cursor == Cursor::At(position) {
            return Ok(());
        }
        if matches!(self.cursor, Cursor::Shown | Cursor::At(_)) {
            self.cursor = Cursor::At(position);
        }
        queue!(self.frame, MoveTo(position.x, position.y))
    }

    fn clear(&mut self) -> io::Result<()> {
        self.clear_region(ClearType::All)
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        let clear = match clear_type {
            ClearType::All => RawClear::All,
            ClearType::AfterCursor => RawClear::FromCursorDown,
            ClearType::BeforeCursor => RawClear::FromCursorUp,
            ClearType::CurrentLine => RawClear::CurrentLine,
            ClearType::UntilNewLine => RawClear::UntilNewLine,
        };
        let start = self.frame.len();
        queue!(self.frame, Clear(clear))?;
        // ratatui clears twice for a new size; the second would be for nothing.
        let (before, cleared) = self.frame.split_at(start);
        if before.ends_with(cleared) {
            self.frame.truncate(start);
        }
        Ok(())
    }

    fn size(&self) -> io::Result<Area> {
        Ok(self.size)
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size, pixels: Area::default() })
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.frame.len() == FRAME_BEGIN.len() {
            return Ok(());
        }
        self.frame.extend_from_slice(FRAME_END);
        let sent = self.out.write_all(&self.frame).and_then(|()| self.out.flush());
        self.frame.truncate(FRAME_BEGIN.len());
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::widgets::Paragraph;

    const SIZE: Size = Size { columns: 80, rows: 24 };

    /// Counts writes and keeps the bytes since the last look.
    #[derive(Debug, Default)]
    struct Sink {
        writes: usize,
        bytes: Vec<u8>,
    }

    impl Write for &mut Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.writes += 1;
            self.bytes.extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn text(text: &str) -> impl FnOnce(&mut Frame<'_>) {
        move |frame| {
            frame.render_widget(Paragraph::new(text), frame.area());
            frame.set_cursor_position((4, 2));
        }
    }

    /// Draws the frames and returns the bytes and writes of the last.
    fn last_of(frames: &[&str]) -> (String, usize) {
        let mut sink = Sink::default();
        let (last, before) = frames.split_last().unwrap();
        let mut screen = Screen::on(Vec::new(), SIZE).unwrap();
        for frame in before {
            screen.draw(text(frame)).unwrap();
        }
        let start = screen.terminal.backend().out.len();
        screen.draw(text(last)).unwrap();
        let bytes = &screen.terminal.backend().out[start..];
        let mut counted = Screen::on(&mut sink, SIZE).unwrap();
        for frame in frames {
            counted.draw(text(frame)).unwrap();
        }
        drop(counted);
        (String::from_utf8(bytes.to_vec()).unwrap(), sink.writes)
    }

    #[test]
    fn a_frame_is_one_write_between_its_marks() {
        let (bytes, writes) = last_of(&["hello\nworld"]);
        assert!(bytes.starts_with("\x1b[?2026h") && bytes.ends_with("\x1b[?2026l"), "{bytes:?}");
        assert!(bytes.contains("hello") && bytes.contains("world"), "{bytes:?}");
        assert_eq!(writes, 1);
    }

    // T11
    #[test]
    fn a_frame_without_a_change_writes_nothing() {
        assert_eq!(last_of(&["same", "same"]), (String::new(), 1));
    }

    // T11: under about 200 bytes a spinner tick, and no clearing.
    #[test]
    fn a_spinner_tick_sends_its_cell_alone() {
        let (bytes, _) = last_of(&["⠋ Compacting · 12 s", "⠙ Compacting · 12 s"]);
        assert!(bytes.len() < 100, "{} bytes: {bytes:?}", bytes.len());
        assert!(!bytes.contains("\x1b[2J") && !bytes.contains("\x1b[3J"), "{bytes:?}");
        assert!(bytes.ends_with("\x1b[?25h\x1b[3;5H\x1b[?2026l"), "{bytes:?}");
    }

    #[test]
    fn a_new_size_draws_everything_once() {
        let mut screen = Screen::on(Vec::new(), SIZE).unwrap();
        screen.draw(text("hello")).unwrap();
        let start = screen.terminal.backend().out.len();
        screen.resize(Size { columns: 40, rows: 10 });
        screen.draw(text("hello")).unwrap();
        screen.draw(text("hello")).unwrap();
        let bytes = String::from_utf8(screen.terminal.backend().out[start..].to_vec()).unwrap();
        assert_eq!(bytes.matches("\x1b[2J").count(), 1, "{bytes:?}");
        assert_eq!(bytes.matches("hello").count(), 1, "{bytes:?}");
    }

    #[test]
    fn after_another_program_everything_is_drawn_again() {
        let mut screen = Screen::on(Vec::new(), SIZE).unwrap();
        screen.draw(text("hello")).unwrap();
        let start = screen.terminal.backend().out.len();
        screen.redraw_all().unwrap();
        screen.draw(text("hello")).unwrap();
        let bytes = String::from_utf8(screen.terminal.backend().out[start..].to_vec()).unwrap();
        assert!(bytes.contains("hello"), "{bytes:?}");
    }

    // T04: a terminal without room is no reason to fail.
    #[test]
    fn any_size_draws() {
        for (columns, rows) in [(0, 0), (1, 1), (2, 1), (5, 2), (300, 3)] {
            let mut screen = Screen::on(Vec::new(), SIZE).unwrap();
            screen.resize(Size { columns, rows });
            screen.draw(|frame| frame.render_widget(Paragraph::new("x"), frame.area())).unwrap();
        }
    }
}
