//! Why a text was not found: the place that looks most like it.

use std::fmt::Write as _;

use crate::base::text::cut;

/// Lines of the file that are compared; later ones are not looked at.
const LINES_MAX: usize = 50_000;

/// Lines of the file that the message shows.
const SHOWN_LINES_MAX: usize = 12;

/// Characters of a shown line.
const LINE_CHARS_MAX: usize = 200;

/// Likeness from which a line is worth showing, of 1.
const LIKENESS_MIN: f64 = 0.6;

/// Says what is there instead of `old`.
pub(super) fn explain(text: &[u8], old: &[u8]) -> String {
    let file = lines(text, LINES_MAX);
    let wanted = lines(old, LINES_MAX);
    let hint = if wanted.iter().any(|line| line.contains('\u{fffd}')) {
        ". `old` holds U+FFFD: bytes of the file that are not UTF-8 cannot be matched; use text without them"
    } else {
        ""
    };
    if let Some(start) = but_for_whitespace(&file, &wanted) {
        return format!(
            "`old` is not there as it is, but line {} matches it but for white space{}. The file has:\n{}Copy \
             it exactly (→ is a tab, · a space at a line's edge){hint}",
            start + 1,
            difference(&file[start..], &wanted),
            excerpt(&file, start, wanted.len())
        );
    }
    match most_like(&file, &wanted) {
        Some(start) => format!(
            "`old` is not in the file. Most like it, at line {}:\n{}Copy the text exactly, or read the file \
             again{hint}",
            start + 1,
            excerpt(&file, start, wanted.len())
        ),
        None => {
            format!("`old` is not in the file, nor anything like it; read the file again{hint}")
        }
    }
}

fn lines(text: &[u8], lines_max: usize) -> Vec<String> {
    let lines = text.split(|byte| *byte == b'\n').take(lines_max);
    let mut lines: Vec<String> =
        lines.map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    if lines.len() > 1 && lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// The first place where every line is equal but for white space.
fn but_for_whitespace(file: &[String], wanted: &[String]) -> Option<usize> {
    let bare = |line: &String| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let (file, wanted): (Vec<_>, Vec<_>) =
        (file.iter().map(bare).collect(), wanted.iter().map(bare).collect());
    if wanted.iter().all(String::is_empty) || wanted.len() > file.len() {
        return None;
    }
    // `position` stops at the first differing line, so that the work stays near the file's length.
    file.windows(wanted.len()).position(|window| window == wanted)
}

fn difference(file: &[String], wanted: &[String]) -> String {
    let indent = |line: &str| line[..line.len() - line.trim_start().len()].to_owned();
    let pair = file.iter().zip(wanted).find(|(have, want)| have != want);
    match pair {
        Some((have, want)) if indent(have) != indent(want) => format!(
            " (the file's indent is {}, that of `old` is {})",
            named(&indent(have)),
            named(&indent(want))
        ),
        Some((have, want)) if have.trim_end() == want.trim_end() => {
            " (white space at the end of a line differs)".to_owned()
        }
        Some(_) | None => String::new(),
    }
}

fn named(indent: &str) -> String {
    let (tabs, spaces) = (indent.matches('\t').count(), indent.matches(' ').count());
    match (tabs, spaces) {
        (0, 0) => "empty".to_owned(),
        (0, spaces) => format!("{spaces} spaces"),
        (tabs, 0) => format!("{tabs} tabs"),
        (tabs, spaces) => format!("{tabs} tabs and {spaces} spaces"),
    }
}

/// The line that is most like the longest line of `wanted`, moved to where `wanted` would begin.
fn most_like(file: &[String], wanted: &[String]) -> Option<usize> {
    let (offset, anchor) =
        wanted.iter().enumerate().max_by_key(|(_, line)| line.trim().chars().count())?;
    let anchor = cut::chars(anchor.trim(), LINE_CHARS_MAX);
    if anchor.is_empty() {
        return None;
    }
    let likeness = |line: &str| {
        let line = cut::chars(line.trim(), LINE_CHARS_MAX);
        if line == anchor { 1.0 } else { strsim::sorensen_dice(line, anchor) }
    };
    let scored = file.iter().enumerate().map(|(index, line)| (likeness(line), index));
    let (score, index) = scored.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
    (score >= LIKENESS_MIN).then(|| index.saturating_sub(offset))
}

fn excerpt(file: &[String], start: usize, count: usize) -> String {
    let mut shown = String::new();
    let end = (start + count.min(SHOWN_LINES_MAX)).min(file.len());
    for (index, line) in file.iter().enumerate().take(end).skip(start) {
        let inner = line.trim();
        let (before, after) = match line.find(inner) {
            Some(at) => (&line[..at], &line[at + inner.len()..]),
            None => ("", ""),
        };
        let visible = |space: &str| space.replace('\t', "→").replace(' ', "·");
        let line = format!("{}{inner}{}", visible(before), visible(after));
        let _ = writeln!(shown, "{:>6}|{}", index + 1, cut::chars(&line, LINE_CHARS_MAX));
    }
    shown
}
