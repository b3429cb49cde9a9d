//! What was sent before, newest last, and the walk through it.
//!
//! Invariant: no entry is blank, and none equals the one before it. Not here: the file (the edge reads and
//! writes the lines of [`encode_line`]), and the draft that a walk must give back (the composer).

/// Entries kept; older ones are dropped.
pub const HISTORY_ENTRIES_MAX: usize = 1_000;

/// Where a step through the history goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Older,
    Newer,
}

/// What a step arrived at.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    Entry(&'a str),
    /// Past the newest entry: what was being written.
    Draft,
    /// There is nothing further.
    Edge,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    entries: Vec<String>,
    /// Index of the entry that the walk shows; `None` while nothing is recalled.
    at: Option<usize>,
}

impl History {
    /// Takes entries as they were stored, newest last.
    pub fn new(entries: impl IntoIterator<Item = String>) -> Self {
        let mut history = Self::default();
        for entry in entries {
            history.push(entry);
        }
        history
    }

    /// Adds the newest entry and ends the walk.
    pub fn push(&mut self, entry: String) {
        self.at = None;
        if entry.trim().is_empty() || self.entries.last() == Some(&entry) {
            return;
        }
        if self.entries.len() >= HISTORY_ENTRIES_MAX {
            self.entries.remove(0);
        }
        self.entries.push(entry);
    }

    /// All entries, newest last.
    pub fn entries(&self) -> &[String] {
        &self.entries
    }

    pub(super) fn is_walking(&self) -> bool {
        self.at.is_some()
    }

    pub(super) fn stop(&mut self) {
        self.at = None;
    }

    pub(super) fn step(&mut self, direction: Direction) -> Step<'_> {
        let next = match (direction, self.at) {
            (Direction::Older, None) => self.entries.len().checked_sub(1),
            (Direction::Older, Some(at)) => at.checked_sub(1),
            (Direction::Newer, None) => None,
            (Direction::Newer, Some(at)) if at + 1 < self.entries.len() => Some(at + 1),
            (Direction::Newer, Some(_)) => {
                self.at = None;
                return Step::Draft;
            }
        };
        match next.and_then(|index| self.entries.get(index)) {
            Some(entry) => {
                self.at = next;
                Step::Entry(entry)
            }
            None => Step::Edge,
        }
    }
}

/// Returns an entry as one line of the history file, without the newline: a JSON string.
pub fn encode_line(entry: &str) -> String {
    serde_json::Value::from(entry).to_string()
}

/// Returns the entry of one line of the history file; `None` for a torn or damaged line.
pub fn decode_line(line: &str) -> Option<String> {
    serde_json::from_str(line.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_one_line_and_comes_back_whole() {
        for entry in ["", "a\nb", "\"quoted\" \\ \t", "漢字 👩‍👩‍👧", "\u{2028}"] {
            let line = encode_line(entry);
            assert!(!line.contains('\n'), "{line}");
            assert_eq!(decode_line(&line).as_deref(), Some(entry));
        }
        for damaged in ["", "\"torn", "{}", "plain"] {
            assert_eq!(decode_line(damaged), None, "{damaged}");
        }
    }

    #[test]
    fn blank_and_repeated_entries_are_not_kept() {
        let history = History::new(["a", " ", "a", "b", "a"].map(str::to_owned));
        assert_eq!(history.entries(), ["a", "b", "a"]);
    }

    #[test]
    fn the_oldest_entries_are_dropped() {
        let history = History::new((0..HISTORY_ENTRIES_MAX + 2).map(|n| n.to_string()));
        assert_eq!(history.entries().len(), HISTORY_ENTRIES_MAX);
        assert_eq!(history.entries()[0], "2");
    }

    #[test]
    fn a_walk_goes_to_the_oldest_and_back_to_the_draft() {
        let mut history = History::new(["old", "new"].map(str::to_owned));
        assert_eq!(history.step(Direction::Newer), Step::Edge);
        assert_eq!(history.step(Direction::Older), Step::Entry("new"));
        assert_eq!(history.step(Direction::Older), Step::Entry("old"));
        assert_eq!(history.step(Direction::Older), Step::Edge);
        assert_eq!(history.step(Direction::Newer), Step::Entry("new"));
        assert_eq!(history.step(Direction::Newer), Step::Draft);
    }
}
