//! How many columns text takes, counted by grapheme cluster.
//!
//! Invariant: what is measured here is what is drawn, so the text must be sanitized first (tabs expanded,
//! no control characters).

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns of sanitized text.
pub fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { graphemes(text).map(|(_, width)| width).sum() }
}

/// The grapheme clusters of a text with the columns of each: 0, 1 or 2.
pub fn graphemes(text: &str) -> impl Iterator<Item = (&str, usize)> {
    text.graphemes(true).map(|cluster| (cluster, cluster.width().min(2)))
}

/// Returns the longest beginning of `text` within `columns_max`, never cutting a cluster.
pub fn cut(text: &str, columns_max: usize) -> &str {
    if text.is_ascii() {
        return &text[..text.len().min(columns_max)];
    }
    let mut used = 0;
    for (index, cluster) in text.grapheme_indices(true) {
        used += cluster.width().min(2);
        if used > columns_max {
            return &text[..index];
        }
    }
    text
}

/// Returns `text` within `columns_max`, with `…` as its last character where it was cut.
pub fn ellipsis(text: &str, columns_max: usize) -> String {
    if columns(text) <= columns_max {
        return text.to_owned();
    }
    match columns_max {
        0 => String::new(),
        more => format!("{}…", cut(text, more - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // T14: cuts fall between clusters, whatever their bytes and widths are.
    #[test]
    fn text_is_cut_between_clusters() {
        for (text, columns_max, wanted) in [
            ("abc", 2, "ab"),
            ("漢字", 3, "漢"),
            ("漢字", 1, ""),
            ("👩‍👩‍👧x", 2, "👩‍👩‍👧"),
            ("e\u{301}x", 1, "e\u{301}"),
        ] {
            assert_eq!(cut(text, columns_max), wanted, "{text} in {columns_max}");
        }
    }

    #[test]
    fn a_cut_text_ends_in_an_ellipsis() {
        assert_eq!(ellipsis("漢字漢字", 5), "漢字…");
        assert_eq!(ellipsis("abc", 3), "abc");
    }
}
