//! Where a text may be parted so that the parts can be laid out by themselves.
//!
//! Invariants: a boundary depends only on the text before it and on the line that it stands before, so more text
//! never moves one that is confirmed; a part begins in a clean state. Whenever there is doubt the parts stay
//! together, which costs time but never changes the look: the parser sees them whole.

/// A part of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    pub start: usize,
    pub end: usize,
    pub kind: Kind,
    /// No further text can change this part.
    pub confirmed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Any blocks.
    Markdown,
    /// One fenced code block at the top level.
    Fence(Fence),
}

/// The opening line of a fenced code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    pub indent: usize,
    mark: u8,
    length: usize,
    pub info: String,
}

impl Fence {
    fn open(line: &str) -> Option<Self> {
        let indent = indent(line);
        let rest = line.trim();
        let mark = *rest.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
        let length = rest.bytes().take_while(|byte| *byte == mark).count();
        let info = rest[length..].trim();
        let is_open = indent < 4 && length >= 3 && (mark == b'~' || !info.contains('`'));
        is_open.then(|| Self { indent, mark, length, info: info.to_owned() })
    }

    /// Whether this line ends the block.
    pub fn is_closed_by(&self, line: &str) -> bool {
        let rest = line.trim();
        indent(line) < 4 && rest.len() >= self.length && rest.bytes().all(|byte| byte == self.mark)
    }

    pub fn language(&self) -> &str {
        let word = self.info.split([' ', ',', '{', '\t']).next().unwrap_or_default();
        word.rsplit('.').next().unwrap_or_default()
    }
}

#[derive(Debug, Default)]
struct State {
    fence: Option<Fence>,
    /// Inside an HTML block; ends at this text, or at a blank line if it is empty.
    html: Option<&'static str>,
    has_list: bool,
    after_blank: bool,
    has_text: bool,
}

/// Parts the text. The parts follow each other without a gap and cover all of it.
pub fn segments(text: &str) -> Vec<Segment> {
    let mut parts = Vec::new();
    let mut state = State::default();
    let mut start = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_complete = line.ends_with('\n');
        let line_end = at + line.len();
        if state.starts_part(line) {
            parts.push(state.segment(start, at, is_complete));
            (start, state) = (at, State::default());
        }
        if state.take(line) {
            parts.push(state.segment(start, line_end, is_complete));
            (start, state) = (line_end, State::default());
        }
        at = line_end;
    }
    if start < text.len() {
        parts.push(state.segment(start, text.len(), false));
    }
    parts
}

/// Byte length of the beginning whose layout further text cannot change.
pub fn stable_prefix(text: &str) -> usize {
    segments(text).iter().take_while(|part| part.confirmed).last().map_or(0, |part| part.end)
}

impl State {
    fn segment(&self, start: usize, end: usize, confirmed: bool) -> Segment {
        let kind = self.fence.clone().map_or(Kind::Markdown, Kind::Fence);
        Segment { start, end, kind, confirmed }
    }

    fn starts_part(&self, line: &str) -> bool {
        if !self.has_text || self.fence.is_some() || self.html.is_some() {
            return false;
        }
        let begins = line.as_bytes().first().is_some_and(|byte| !byte.is_ascii_whitespace());
        let opens = is_heading(line) || Fence::open(line).is_some();
        let is_free = self.after_blank && !(self.has_list && is_list_item(line));
        begins && (opens || is_free)
    }

    /// Takes a line into the part; returns whether the part ends with it.
    fn take(&mut self, line: &str) -> bool {
        if let Some(fence) = &self.fence {
            return fence.is_closed_by(line);
        }
        if let Some(end) = self.html {
            let is_over = if end.is_empty() { line.trim().is_empty() } else { line.contains(end) };
            self.html = self.html.filter(|_| !is_over);
            self.after_blank = line.trim().is_empty();
            return false;
        }
        let is_first = !self.has_text;
        self.after_blank = line.trim().is_empty();
        if self.after_blank {
            return false;
        }
        self.has_text = true;
        if is_first && is_heading(line) {
            return true;
        }
        if is_first && let Some(fence) = Fence::open(line) {
            self.fence = Some(fence);
            return false;
        }
        self.has_list |= is_list_item(line.trim_start());
        self.html = html_end(line);
        false
    }
}

fn indent(line: &str) -> usize {
    line.bytes().take_while(|byte| *byte == b' ').count()
}

fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - rest.len())) && rest.starts_with([' ', '\n'])
}

fn is_list_item(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match digits {
        0 => line.strip_prefix(['-', '*', '+']),
        1..=9 => line[digits..].strip_prefix(['.', ')']),
        _ => None,
    };
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n']))
}

/// What ends the HTML block that this line begins.
fn html_end(line: &str) -> Option<&'static str> {
    let rest = line.trim_start();
    if !rest.starts_with('<') {
        return None;
    }
    let lower = rest.get(..rest.len().min(12)).unwrap_or(rest).to_ascii_lowercase();
    let ends = [
        ("<!--", "-->"),
        ("<![cdata[", "]]>"),
        ("<?", "?>"),
        ("<!", ">"),
        ("<script", "</script>"),
        ("<style", "</style>"),
        ("<pre", "</pre>"),
        ("<textarea", "</textarea>"),
    ];
    let end = ends.iter().find(|(begin, _)| lower.starts_with(begin)).map_or("", |(_, end)| end);
    (end.is_empty() || !rest.contains(end)).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stable_prefix_ends_before_what_may_still_change() {
        for (text, wanted) in [
            ("", ""),
            ("one", ""),
            ("one\n\n", ""),
            ("one\n\ntw", ""),
            ("one\n\ntwo\n", "one\n\n"),
            ("# head\n", "# head\n"),
            ("- a\n\n- b\n", ""),
            ("- a\n\nend\n", "- a\n\n"),
            ("- a\n\n  more\n", ""),
            ("```\na\n\nb\n", ""),
            ("```\na\n```\nb", "```\na\n```\n"),
            ("<!-- a\n\nb\n", ""),
            ("| a |\n|---|\n| b |\n", ""),
            ("> a\n\nb\n", "> a\n\n"),
        ] {
            assert_eq!(&text[..stable_prefix(text)], wanted, "{text:?}");
        }
    }
}
