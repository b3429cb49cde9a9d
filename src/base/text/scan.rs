//! Untrusted text to pieces: characters, control characters, and the few sequences that mean something.
//!
//! Invariant: the scanner always moves forward, and no sequence reaches over the end of its line. All
//! sequences but colours (SGR) and "erase in line" are passed over whole.

/// One thing in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    Char(char),
    /// A control character that is no part of a sequence.
    Control(char),
    Newline,
    Return,
    Tab,
    /// CSI K.
    Erase,
    /// CSI m with its parameters.
    Sgr(&'a str),
}

/// Reads pieces from a text.
#[derive(Debug, Clone)]
pub struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// The next character as it stands in the text.
    pub fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    /// Passes over what follows ESC; tells what it was.
    fn escape(&mut self) -> Option<Piece<'a>> {
        match self.peek() {
            Some('[') => {
                self.take();
                self.control_sequence()
            }
            Some(c @ (']' | 'P' | 'X' | '^' | '_')) => {
                self.take();
                self.string(c);
                None
            }
            // ESC, intermediates, final (ECMA-35).
            Some(' '..='~') => {
                let intermediates = self.rest.bytes().take_while(|b| (0x20..=0x2f).contains(b));
                self.rest = &self.rest[intermediates.count()..];
                if matches!(self.peek(), Some('0'..='~')) {
                    self.take();
                }
                None
            }
            _ => Some(Piece::Control('\x1b')),
        }
    }

    /// After CSI: parameters, intermediates, a final character. A terminal obeys control characters in
    /// between; here they are passed over. Anything else ends the sequence and is text.
    fn control_sequence(&mut self) -> Option<Piece<'a>> {
        let start = self.rest;
        while let Some(c) = self.peek() {
            match c {
                '@'..='~' => {
                    let parameters = &start[..start.len() - self.rest.len()];
                    self.take();
                    return match c {
                        'm' if parameters
                            .bytes()
                            .all(|b| matches!(b, b'0'..=b'9' | b';' | b':')) =>
                        {
                            Some(Piece::Sgr(parameters))
                        }
                        'K' => Some(Piece::Erase),
                        _ => None,
                    };
                }
                '\n' | '\r' | '\x1b' | '\x18' | '\x1a' => return None,
                '\0'..='?' | '\x7f' => {
                    self.take();
                }
                _ => return None,
            }
        }
        None
    }

    /// After OSC, DCS, SOS, PM or APC: everything to its terminator, or to the end of the line.
    fn string(&mut self, kind: char) {
        while let Some(c) = self.peek() {
            match c {
                '\n' | '\u{2028}' | '\u{2029}' => return,
                '\x1b' => {
                    // ESC \ ends the string; any other sequence cancels it and stands for itself.
                    if self.rest.starts_with("\x1b\\") {
                        self.rest = &self.rest[2..];
                    }
                    return;
                }
                '\x07' if kind == ']' => {
                    self.take();
                    return;
                }
                '\u{9c}' | '\x18' | '\x1a' => {
                    self.take();
                    return;
                }
                _ => {
                    self.take();
                }
            }
        }
    }

    /// An 8-bit control: the same as ESC and the character 64 below.
    fn c1(&mut self, c: char) -> Option<Piece<'a>> {
        match c {
            '\u{85}' => Some(Piece::Newline),
            '\u{9b}' => self.control_sequence(),
            '\u{9d}' => {
                self.string(']');
                None
            }
            '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => {
                self.string('P');
                None
            }
            _ => None,
        }
    }
}

impl<'a> Iterator for Scanner<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        loop {
            let piece = match self.take()? {
                '\n' | '\u{2028}' | '\u{2029}' => Some(Piece::Newline),
                '\r' if self.peek() == Some('\n') => None,
                '\r' => Some(Piece::Return),
                '\t' => Some(Piece::Tab),
                '\x1b' => self.escape(),
                c @ '\u{80}'..='\u{9f}' => self.c1(c),
                c if c.is_control() => Some(Piece::Control(c)),
                c => Some(Piece::Char(c)),
            };
            if piece.is_some() {
                return piece;
            }
        }
    }
}
