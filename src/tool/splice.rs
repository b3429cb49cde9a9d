//! Edits applied to a file's bytes.
//!
//! Invariants: all edits of a call apply or none; bytes outside the replaced text are the same bytes, whatever
//! their encoding; a line that an edit keeps keeps its ending, a new one takes its neighbour's; a byte order
//! mark and a missing final newline stay as they are. Not here: files, messages about paths.

mod ending;
mod nearly;

use super::text::BOM;

/// One replacement, in the model's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) old: String,
    pub(super) new: String,
    pub(super) all: bool,
}

/// Applies all changes, each to the outcome of the one before.
///
/// The error says which change failed and what is there instead.
pub(super) fn apply(bytes: &[u8], changes: &[Change]) -> Result<Vec<u8>, String> {
    let (mark, body) = match bytes.strip_prefix(BOM) {
        Some(body) => (BOM, body),
        None => (&b""[..], bytes),
    };
    let style = ending::Style::of(body);
    let mut body = body.to_vec();
    for (index, change) in changes.iter().enumerate() {
        body = apply_one(&body, change, style).map_err(|why| match changes.len() {
            1 => why,
            count => format!("edit {} of {count}: {why}", index + 1),
        })?;
    }
    Ok([mark, &body].concat())
}

fn apply_one(body: &[u8], change: &Change, style: ending::Style) -> Result<Vec<u8>, String> {
    let old = change.old.strip_prefix('\u{feff}').unwrap_or(&change.old);
    let new = change.new.strip_prefix('\u{feff}').unwrap_or(&change.new);
    let (old, new) = (style.normalize(old), style.normalize(new));
    if old.is_empty() {
        return Err("`old` is empty; give the exact text to replace (with a line around it to insert), or use \
                    `write` for a whole file"
            .to_owned());
    }
    let view = ending::View::of(body, style);
    let found = occurrences(&view.text, &old);
    match (found.as_slice(), change.all) {
        ([], _) => return Err(nearly::explain(&view.text, &old)),
        ([_], _) | (_, true) => {}
        (many, false) => return Err(ambiguous(&view.text, many)),
    }
    let mut result = Vec::with_capacity(body.len() + new.len());
    let mut kept_to = 0;
    for start in apart(&found, old.len()) {
        let range = view.raw(start)..view.raw(start + old.len());
        result.extend_from_slice(&body[kept_to..range.start]);
        result.extend(ending::replacement(body, range.clone(), &old, &new, style));
        kept_to = range.end;
    }
    result.extend_from_slice(&body[kept_to..]);
    Ok(result)
}

/// Where `old` begins, overlapping ones too.
fn occurrences(text: &[u8], old: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = find(&text[from..], old) {
        found.push(from + at);
        from += at + 1;
    }
    found
}

fn find(text: &[u8], old: &[u8]) -> Option<usize> {
    let first = *old.first()?;
    let mut from = 0;
    while let Some(at) = text.get(from..)?.iter().position(|byte| *byte == first) {
        if text[from + at..].starts_with(old) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

/// Those that do not overlap the one before.
fn apart(found: &[usize], length: usize) -> Vec<usize> {
    let mut free_from = 0;
    let mut kept = Vec::new();
    for start in found {
        if *start >= free_from {
            kept.push(*start);
            free_from = start + length;
        }
    }
    kept
}

fn ambiguous(text: &[u8], found: &[usize]) -> String {
    let line = |at: &usize| text[..*at].split(|byte| *byte == b'\n').count();
    let mut lines: Vec<String> = found.iter().take(20).map(|at| line(at).to_string()).collect();
    if found.len() > lines.len() {
        lines.push("…".to_owned());
    }
    format!(
        "`old` is there {} times, at lines {}; add lines around it until it is unique, or set `all` to replace \
         every one",
        found.len(),
        lines.join(", ")
    )
}

#[cfg(test)]
mod tests;
