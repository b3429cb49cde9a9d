//! The rows of a unified diff.
//!
//! Invariant: whatever is no part of a hunk stays a raw row, but for the lines that name the files.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    Added,
    Removed,
    Same,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row<'a> {
    Hunk,
    Text { sign: Sign, old: Option<usize>, new: Option<usize>, text: &'a str },
    Raw(&'a str),
}

impl Row<'_> {
    pub fn sign(&self) -> Option<Sign> {
        match self {
            Row::Text { sign, .. } => Some(*sign),
            Row::Hunk | Row::Raw(_) => None,
        }
    }

    pub fn number_max(&self) -> usize {
        match self {
            Row::Text { old, new, .. } => old.unwrap_or(0).max(new.unwrap_or(0)),
            Row::Hunk | Row::Raw(_) => 0,
        }
    }
}

/// Where the next lines of a hunk stand, and how many it still has.
#[derive(Debug, Clone, Copy)]
struct Hunk {
    old: usize,
    new: usize,
    old_left: usize,
    new_left: usize,
}

pub fn rows(unified: &str) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    let mut hunk: Option<Hunk> = None;
    for line in unified.lines() {
        let inside = hunk.as_mut().and_then(|hunk| hunk.take(line));
        match (inside, header(line)) {
            (Some(row), _) => rows.push(row),
            (None, Some(next)) => {
                hunk = Some(next);
                rows.push(Row::Hunk);
            }
            (None, None) => {
                hunk = None;
                let names_file =
                    ["--- ", "+++ ", "diff ", "index "].iter().any(|name| line.starts_with(name));
                if !names_file {
                    rows.push(Row::Raw(line));
                }
            }
        }
    }
    rows
}

impl Hunk {
    fn take<'a>(&mut self, line: &'a str) -> Option<Row<'a>> {
        let (sign, text) = match line.as_bytes().first() {
            Some(b'+') => (Sign::Added, &line[1..]),
            Some(b'-') => (Sign::Removed, &line[1..]),
            Some(b' ') => (Sign::Same, &line[1..]),
            // Some programs strip the space of an empty line.
            None => (Sign::Same, line),
            Some(b'\\') => return Some(Row::Raw(line)),
            Some(_) => return None,
        };
        let (takes_old, takes_new) = (sign != Sign::Added, sign != Sign::Removed);
        if (takes_old && self.old_left == 0) || (takes_new && self.new_left == 0) {
            return None;
        }
        let old = takes_old.then_some(self.old);
        let new = takes_new.then_some(self.new);
        self.old = self.old.saturating_add(usize::from(takes_old));
        self.new = self.new.saturating_add(usize::from(takes_new));
        self.old_left -= usize::from(takes_old);
        self.new_left -= usize::from(takes_new);
        Some(Row::Text { sign, old, new, text })
    }
}

fn header(line: &str) -> Option<Hunk> {
    let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let ((old, old_left), (new, new_left)) = (range(old)?, range(new)?);
    Some(Hunk { old, new, old_left, new_left })
}

fn range(text: &str) -> Option<(usize, usize)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}
