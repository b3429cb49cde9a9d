//! Markdown to lines that fit a width.
//!
//! Invariants: no line is wider than asked (but for one cluster that alone is); one blank line between blocks,
//! none at the ends; the text of code is complete; the streamed layout equals that of the whole text.
//! Reference definitions reach other blocks once their line is complete. Not here: caching by cell (`ViewCache`).

mod blocks;
mod code;
mod inline;
mod segment;
mod stream;
mod table;

use ratatui::text::Line;

pub use segment::stable_prefix;
pub use stream::StreamLayout;

use crate::ui::theme::Theme;
use segment::Kind;

/// How a part is laid out.
#[derive(Debug, Clone, Copy)]
struct Look<'a> {
    width: u16,
    theme: &'a Theme,
}

/// The definitions of reference links: label in lower case, address.
type Definitions = Vec<(String, String)>;

/// Lays out a whole text.
pub fn render(text: &str, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    let look = Look { width: width.max(1), theme };
    let parts = segment::segments(text);
    let mut definitions = Definitions::new();
    for part in parts.iter().filter(|part| part.kind == Kind::Markdown) {
        definitions.extend(inline::definitions(&text[part.start..part.end]));
    }
    let mut lines = Vec::new();
    for part in parts {
        let source = &text[part.start..part.end];
        append(&mut lines, part_lines(source, &part.kind, &definitions, look));
    }
    lines
}

fn part_lines(
    source: &str,
    kind: &Kind,
    definitions: &Definitions,
    look: Look<'_>,
) -> Vec<Line<'static>> {
    match kind {
        Kind::Markdown => blocks::lines(source, definitions, look),
        Kind::Fence(fence) => code::fence_lines(source, fence, look),
    }
}

/// Adds a block after the blank line that parts it from the one before.
fn append(lines: &mut Vec<Line<'static>>, block: Vec<Line<'static>>) {
    if !lines.is_empty() && !block.is_empty() {
        lines.push(Line::default());
    }
    lines.extend(block);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::flow;
    use proptest::prelude::*;

    fn shown(text: &str, width: u16) -> String {
        render(text, width, &Theme::plain()).iter().map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn each_kind_of_block_has_its_look() {
        for (text, wanted) in [
            ("", ""),
            ("\n\na\n\n\n\nb\n\n", "a\n\nb\n"),
            ("# Head\ntext", "Head\n\ntext\n"),
            ("a  \nb\nc", "a\nb\nc\n"),
            ("- a\n- b\n  - c", "• a\n• b\n  • c\n"),
            ("9. a\n10. b", "9.  a\n10. b\n"),
            ("- [ ] a\n- [x] b", "☐ a\n☑ b\n"),
            ("> a\n>\n> b", "│ a\n│\n│ b\n"),
            ("**a** *b* ~~c~~ `d`", "a b c d\n"),
            ("[a](http://b)", "a (http://b)\n"),
            ("<http://b>", "http://b\n"),
            ("[a][x]\n\n[x]: http://b\n", "a (http://b)\n"),
            ("<div>\nx\n</div>", "<div>\nx\n</div>\n"),
            ("a <b>c</b>", "a <b>c</b>\n"),
            ("```\na\n\nb\n```", "  a\n\n  b\n"),
            ("- a\n  ```rust\n  fn\n  ```", "• a\n\n    fn\n"),
            (
                "| a | b |\n|---|--:|\n| c | d |",
                "┌───┬───┐\n│ a │ b │\n├───┼───┤\n│ c │ d │\n└───┴───┘\n",
            ),
        ] {
            assert_eq!(shown(text, 40), wanted, "{text:?}");
        }
    }

    #[test]
    fn a_table_without_room_becomes_rows_of_names_and_values() {
        assert_eq!(shown("| a | b | c |\n|-|-|-|\n| d | e | f |", 10), "a: d\nb: e\nc: f\n");
    }

    const PIECES: [&str; 34] = [
        "word ",
        "漢字 ",
        "👩‍👩‍👧",
        "**",
        "*",
        "`",
        "```",
        "```rust\n",
        "~~~\n",
        "\n",
        "\n\n",
        "# ",
        "- ",
        "  - ",
        "1. ",
        "> ",
        "| a | b |\n",
        "|---|---|\n",
        "| ",
        "[x]",
        "[x]: http://a\n",
        "](",
        "http://x.y ",
        "<div>",
        "<!--",
        "-->",
        "---\n",
        "    ",
        "fn main() {}\n",
        "\"",
        "- [ ] ",
        "\\",
        "===\n",
        "  \n",
    ];

    fn documents() -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..24)
            .prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        #[test]
        fn every_step_of_a_stream_looks_like_the_whole_text(text in documents(), width in 1_u16..50) {
            crate::ui::highlight::load_now();
            let theme = Theme::plain();
            let mut stream = StreamLayout::new(width, theme.clone());
            for (end, _) in text.char_indices().skip(1).chain([(text.len(), ' ')]) {
                let streamed = stream.update(&text[..end]).to_vec();
                prop_assert_eq!(streamed, render(&text[..end], width, &theme), "{:?}", &text[..end]);
            }
        }

        #[test]
        fn a_stable_prefix_keeps_its_lines(text in documents(), more in documents()) {
            let stable = stable_prefix(&text);
            prop_assert!(stable_prefix(&[text.as_str(), &more].concat()) >= stable);
        }

        // T14: whatever the text is, it is laid out, and within the width.
        #[test]
        fn any_text_fits(text in prop_oneof![documents(), "(\\PC|\n){0,200}"], width in 0_u16..60) {
            let lines = render(&text, width, &Theme::plain());
            prop_assert!(lines.iter().all(|line| flow::line_width(line) <= usize::from(width).max(2)));
        }
    }
}
