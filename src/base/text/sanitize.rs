//! The one gate: untrusted text to text that is safe in a cell of the screen.
//!
//! Invariants: what leaves here has no control character but `\n`, no tab, no escape sequence, and no
//! character that is there but not seen; cleaning clean text changes nothing. An escape sequence never
//! reaches beyond the end of its line: one that is not terminated must not hide all that follows.
//! Not here: cutting and wrapping (`width`, `wrap`); which colours a theme allows (`ui::theme`).

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

use super::scan::{Piece, Scanner};
use super::sgr::SgrStyle;
use super::width;

/// Columns between tab stops in output of programs (what terminals do).
const TAB_TEXT: usize = 8;
/// Columns between tab stops in source code and markdown (CommonMark's tab stop).
const TAB_CODE: usize = 4;

/// One line as runs of one style each.
pub type StyledLine = Vec<(SgrStyle, String)>;

/// Returns text of several lines, safe to draw: tabs to stops of 8, CR overwrites resolved, escape
/// sequences and hidden characters removed, other control characters as their pictures.
pub fn clean(untrusted: &str) -> Cow<'_, str> {
    clean_to(untrusted, TAB_TEXT)
}

/// As [`clean`], with tab stops of 4: for source code and markdown.
pub fn clean_code(untrusted: &str) -> Cow<'_, str> {
    clean_to(untrusted, TAB_CODE)
}

/// Returns one line: line ends inside are shown as `␤`, CR as `␍`, trailing ones are left out.
///
/// A carriage return hides nothing here: a name such as `danger\rharmless` must show both.
pub fn line(untrusted: &str) -> String {
    let trimmed = untrusted.trim_end_matches(['\n', '\r']);
    let marked = trimmed.replace("\r\n", "\n").replace('\r', "␍");
    clean_to(&marked, TAB_TEXT).replace('\n', "␤")
}

/// Returns text of several lines in which nothing is removed: each control or hidden character is
/// shown, as its picture or as `‹U+202E›`.
///
/// For what a person is asked to allow: nothing may be missing from it.
pub fn exact(untrusted: &str) -> String {
    let joined = untrusted.replace("\r\n", "\n");
    let mut shown = String::with_capacity(joined.len());
    for character in joined.chars() {
        match character {
            '\n' => shown.push('\n'),
            '\t' => shown.push_str("    "),
            _ if character.is_control() => match picture(character) {
                Some(picture) => shown.push(picture),
                None => shown.push_str(&code_point(character)),
            },
            _ if is_hidden(character)
                || matches!(character, JOINER | EMOJI_STYLE | '\u{2028}' | '\u{2029}') =>
            {
                shown.push_str(&code_point(character));
            }
            _ => shown.push(character),
        }
    }
    shown
}

/// Returns a command as [`exact`], in which also a CR before a line end and every blank that is not a
/// space are shown: a shell takes them as part of a word.
pub fn exact_command(untrusted: &str) -> String {
    let mut shown = String::with_capacity(untrusted.len());
    for character in untrusted.chars() {
        match character {
            '\r' => shown.push('␍'),
            ' ' | '\n' | '\t' => shown.push(character),
            '\u{2800}' => shown.push_str(&code_point(character)),
            _ if character.is_whitespace() && !character.is_control() => {
                shown.push_str(&code_point(character));
            }
            _ => shown.push(character),
        }
    }
    exact(&shown)
}

/// Returns [`exact_command`] as one line: every line end is shown as `␤`, and nothing is left out.
pub fn exact_line(untrusted: &str) -> String {
    exact_command(untrusted).replace('\n', "␤")
}

/// Returns whether [`exact`] would show something that a reader would otherwise not see.
pub fn has_hidden(untrusted: &str) -> bool {
    let is_line_mark = |c| matches!(c, '\u{2028}' | '\u{2029}');
    let is_plain =
        |c: char| c == '\n' || c == '\t' || !(c.is_control() || is_hidden(c) || is_line_mark(c));
    !untrusted.chars().all(is_plain)
}

/// Returns the lines of a program's output with its colours as data; all else as [`clean`].
pub fn styled(untrusted: &str) -> Vec<StyledLine> {
    lines(untrusted, TAB_TEXT)
}

fn clean_to(untrusted: &str, tab: usize) -> Cow<'_, str> {
    if is_clean(untrusted) {
        return Cow::Borrowed(untrusted);
    }
    let mut text = String::with_capacity(untrusted.len());
    for (index, line) in lines(untrusted, tab).into_iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        for (_, run) in &line {
            text.push_str(run);
        }
    }
    Cow::Owned(text)
}

/// The common case, decided without copying. Joiners take the slow way: whether they stay depends on
/// their neighbours.
fn is_clean(text: &str) -> bool {
    let is_safe = |byte: u8| byte == b'\n' || !byte.is_ascii_control();
    text.bytes().all(is_safe)
        && (text.is_ascii()
            || text.chars().all(|c| {
                c.is_ascii()
                    || !(c.is_control()
                        || is_hidden(c)
                        || matches!(c, JOINER | EMOJI_STYLE | '\u{2028}' | '\u{2029}'))
            }))
}

fn lines(untrusted: &str, tab: usize) -> Vec<StyledLine> {
    let mut page = Page::new(tab);
    let mut last = None;
    let mut scanner = Scanner::new(untrusted);
    while let Some(piece) = scanner.next() {
        match piece {
            Piece::Char(c) if stays(c, last, scanner.peek()) => {
                page.push(c);
                // Modifiers of an emoji stand between it and the joiner that follows.
                if !matches!(c, EMOJI_STYLE | '\u{1f3fb}'..='\u{1f3ff}') {
                    last = Some(c);
                }
                continue;
            }
            Piece::Char(_) => continue,
            Piece::Control(c) => match picture(c) {
                Some(picture) => page.push(picture),
                None => continue,
            },
            Piece::Newline => page.newline(),
            Piece::Return => page.carriage_return(),
            Piece::Tab => page.tab(),
            Piece::Erase => page.erase(),
            Piece::Sgr(parameters) => {
                page.style.apply(parameters);
                continue;
            }
        }
        last = None;
    }
    page.finish()
}

const JOINER: char = '\u{200d}';
/// Variation selector 16: draw the character before as an emoji.
const EMOJI_STYLE: char = '\u{fe0f}';

/// Returns whether a printable character is kept, given the one kept before and the one that follows.
fn stays(c: char, last: Option<char>, next: Option<char>) -> bool {
    match c {
        JOINER => last.is_some_and(is_pictograph) && next.is_some_and(is_pictograph),
        EMOJI_STYLE => {
            last.is_some_and(|last| matches!(last, '0'..='9' | '#' | '*') || is_pictograph(last))
        }
        _ => !is_hidden(c),
    }
}

/// Asks the segmentation rules themselves: only pictographs form one cluster across a joiner.
fn is_pictograph(c: char) -> bool {
    let joined: String = [c, JOINER, '\u{1f469}'].iter().collect();
    !c.is_ascii() && joined.graphemes(true).count() == 1
}

/// Characters that take part in the text but not in what is seen: bidi controls, zero-width and filler
/// characters, tags, variation selectors, line and annotation marks.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200c}' | '\u{200e}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns the control picture of a C0 control or DEL.
fn picture(c: char) -> Option<char> {
    match c {
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)),
        '\x7f' => Some('␡'),
        _ => None,
    }
}

fn code_point(c: char) -> String {
    format!("‹U+{:04X}›", u32::from(c))
}

/// What one pass over the text has written so far.
struct Page {
    lines: Vec<StyledLine>,
    /// What the current line held before the last carriage return.
    under: StyledLine,
    /// What has been written since.
    top: StyledLine,
    /// Columns of `top` up to the last tab, and where in it the rest begins (run, byte).
    measured: (usize, usize, usize),
    returned: bool,
    tab: usize,
    style: SgrStyle,
}

impl Page {
    fn new(tab: usize) -> Self {
        Self {
            lines: Vec::new(),
            under: Vec::new(),
            top: Vec::new(),
            measured: (0, 0, 0),
            returned: false,
            tab,
            style: SgrStyle::default(),
        }
    }

    fn push(&mut self, c: char) {
        self.overwrite();
        match self.top.last_mut() {
            Some((style, run)) if *style == self.style => run.push(c),
            _ => self.top.push((self.style, c.to_string())),
        }
    }

    /// A carriage return alone changes nothing; what is written next does.
    fn carriage_return(&mut self) {
        self.returned = true;
    }

    fn overwrite(&mut self) {
        if std::mem::take(&mut self.returned) {
            self.under = merge(std::mem::take(&mut self.under), std::mem::take(&mut self.top));
            self.measured = (0, 0, 0);
        }
    }

    fn tab(&mut self) {
        self.overwrite();
        let (columns, run, byte) = self.measured;
        let tail = self.top.iter().enumerate().skip(run);
        let columns = columns
            + tail
                .map(|(index, (_, text))| {
                    width::columns(&text[if index == run { byte } else { 0 }..])
                })
                .sum::<usize>();
        let fill = self.tab - columns % self.tab;
        (0..fill).for_each(|_| self.push(' '));
        let last = self.top.len().saturating_sub(1);
        self.measured = (columns + fill, last, self.top.last().map_or(0, |(_, run)| run.len()));
    }

    /// Erase in line: programs write it after a carriage return to drop what was there.
    fn erase(&mut self) {
        self.overwrite();
        self.under.clear();
    }

    fn newline(&mut self) {
        self.returned = false;
        let line = merge(std::mem::take(&mut self.under), std::mem::take(&mut self.top));
        self.lines.push(line);
        self.measured = (0, 0, 0);
    }

    fn finish(mut self) -> Vec<StyledLine> {
        self.newline();
        self.lines
    }
}

/// Returns `top` followed by what of `under` it does not cover.
fn merge(under: StyledLine, mut top: StyledLine) -> StyledLine {
    if under.is_empty() {
        return top;
    }
    let mut covered: usize = top.iter().map(|(_, run)| width::columns(run)).sum();
    for (style, run) in under {
        let mut left = String::new();
        for (cluster, columns) in width::graphemes(&run) {
            if covered == 0 {
                left.push_str(cluster);
            } else {
                // Half of a wide character cannot stay: the other half becomes a blank.
                left.extend(std::iter::repeat_n(' ', columns.saturating_sub(covered)));
                covered = covered.saturating_sub(columns);
            }
        }
        if !left.is_empty() {
            top.push((style, left));
        }
    }
    top
}

#[cfg(test)]
mod tests {
    use super::super::sgr::SgrColour;
    use super::*;
    use proptest::prelude::*;

    fn check(untrusted: &str, wanted: &str) {
        assert_eq!(clean(untrusted), wanted, "{untrusted:?}");
    }

    // T03: no sequence stays, whole or in part.
    #[test]
    fn sequences_are_removed_whole() {
        for sequence in [
            "\x1b[31m",
            "\x1b[2J",
            "\x1b[10A",
            "\x1b]52;c;ZXZpbA==\x07",
            "\x1b]8;;http://x\x1b\\",
            "\x1b]0;title\x07",
            "\x1bP1$r0m\x1b\\",
            "\x1b_apc\x1b\\",
            "\x1b^pm\x1b\\",
            "\x1bc",
            "\x1b[6n",
            "\u{9b}31m",
            "\u{9d}0;t\u{9c}",
            "\x1b(B",
            "\x1b[?1049h",
            "\x1b[38;5;1m",
            "\x1b[3\x071m",
            "\u{90}q\u{9c}",
            "\x1b]0;t\u{9c}",
            "\x1b#8",
        ] {
            check(&format!("a{sequence}b"), "ab");
        }
    }

    #[test]
    fn a_sequence_without_an_end_takes_its_line_and_no_more() {
        check("a\x1b]0;evil\nb", "a\nb");
        check("a\x1b[31", "a");
        check("a\x1b[3\nb", "a\nb");
        check("a\x1b", "a␛");
        check("a\x1b漢", "a␛漢");
    }

    // T02
    #[test]
    fn tabs_go_to_their_stops() {
        check("\tx", "        x");
        check("1\tcode", "1       code");
        check("漢\tx\ty", "漢      x       y");
        assert_eq!(clean_code("\tif\tx"), "    if  x");
        check("ab\n\tc", "ab\n        c");
    }

    // T02
    #[test]
    fn carriage_returns_leave_the_last_state() {
        check("10%\r50%\r100%\n", "100%\n");
        check("a\r\nb\r\n", "a\nb\n");
        check("loading\rok", "okading");
        check("loading\r\x1b[Kok", "ok");
        check("漢字\rx", "x 字");
        check("done\r", "done");
    }

    // T02
    #[test]
    fn other_controls_are_shown() {
        check("\0\x07\x0c\x7f\x08", "␀␇␌␡␈");
    }

    // X16
    #[test]
    fn hidden_characters_go() {
        check("a\u{202e}gpj.exe", "agpj.exe");
        check("x\u{e0041}\u{e0042}y\u{200b}z\u{ad}", "xyz");
        check("a\u{200d}b\u{fe0f}", "ab");
        check(
            "👩\u{200d}💻 ❤\u{fe0f} 👍🏽\u{200d}👩 1\u{fe0f}\u{20e3}",
            "👩\u{200d}💻 ❤\u{fe0f} 👍🏽\u{200d}👩 1\u{fe0f}\u{20e3}",
        );
    }

    // X16: a question shows everything.
    #[test]
    fn the_exact_form_hides_nothing() {
        // X16: names that look like more than one thing.
        for (name, shown) in [
            ("x; touch P", "x; touch P"),
            ("a\napprove all", "a␤approve all"),
            ("a\r\nb\n", "a␍␤b␤"),
            ("\u{202e}gpj.exe", "‹U+202E›gpj.exe"),
            ("a\u{2028}b\u{a0}c\u{3000}d", "a‹U+2028›b‹U+00A0›c‹U+3000›d"),
            ("\u{e0041}\u{200b}\u{ad}", "‹U+E0041›‹U+200B›‹U+00AD›"),
        ] {
            assert_eq!(exact_line(name), shown);
        }
        assert_eq!(exact("rm\x1b]0; -rf\u{202e}\r\n\tx\ry"), "rm␛]0; -rf‹U+202E›\n    x␍y");
        assert!(has_hidden("a\u{e0041}") && !has_hidden("a\n\tb 漢"));
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(line("x\napprove all\n"), "x␤approve all");
        assert_eq!(line("danger\rharmless"), "danger␍harmless");
    }

    #[test]
    fn colours_become_data() {
        let red = SgrStyle { fg: Some(SgrColour::Basic(1)), ..SgrStyle::default() };
        let plain = SgrStyle::default();
        assert_eq!(
            styled("a\x1b[31mb\nc\x1b[0md"),
            [
                vec![(plain, "a".to_owned()), (red, "b".to_owned())],
                vec![(red, "c".to_owned()), (plain, "d".to_owned())]
            ]
        );
    }

    #[test]
    fn clean_text_is_not_copied() {
        assert!(matches!(clean("plain\n漢字 é"), Cow::Borrowed(_)));
    }

    fn nasty() -> impl Strategy<Value = String> {
        prop_oneof![
            ".{0,40}".boxed(),
            proptest::collection::vec(any::<u8>(), 0..60)
                .prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                .boxed(),
            proptest::collection::vec(
                prop_oneof![
                    Just("\x1b"),
                    Just("["),
                    Just("]"),
                    Just("31"),
                    Just("m"),
                    Just("\r"),
                    Just("\n"),
                    Just("\t"),
                    Just("漢"),
                    Just("👩"),
                    Just("\u{200d}"),
                    Just("\u{fe0f}"),
                    Just("🇩"),
                    Just("\u{301}"),
                    Just("a"),
                    Just("\u{9b}"),
                    Just("\u{9d}"),
                    Just("\x07"),
                    Just("\u{202e}"),
                    Just("K"),
                    Just("🏽"),
                    Just("\\"),
                    Just(";")
                ],
                0..30
            )
            .prop_map(|parts| parts.concat())
            .boxed(),
        ]
    }

    proptest! {
        // T03, X16: whatever comes in, only safe characters go out, and once is enough.
        #[test]
        fn what_leaves_is_safe(text in nasty()) {
            for cleaned in [clean(&text).into_owned(), clean_code(&text).into_owned(), exact(&text), exact_line(&text)] {
                prop_assert!(cleaned.chars().all(|c| c == '\n' || !c.is_control()), "{cleaned:?}");
                prop_assert!(!cleaned.chars().any(is_hidden), "{cleaned:?}");
            }
            let once = clean(&text).into_owned();
            prop_assert_eq!(clean(&once), once.as_str());
            let one = line(&text);
            prop_assert!(!one.chars().any(char::is_control));
            let joined: Vec<String> =
                styled(&text).into_iter().map(|line| line.into_iter().map(|(_, run)| run).collect()).collect();
            prop_assert_eq!(joined.join("\n"), clean(&text));
        }
    }
}
