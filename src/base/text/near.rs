//! The nearest known name, for "did you mean".

/// Returns the known name closest to `typed`, if one is close enough to be a likely meaning.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(typed, name), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| *distance <= (name.chars().count().max(3) / 3).max(1))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_nonsense_finds_none() {
        let known = ["theme", "thinking", "model"];
        assert_eq!(nearest("thme", known), Some("theme"));
        assert_eq!(nearest("modle", known), Some("model"));
        assert_eq!(nearest("zzzzzz", known), None);
    }
}
