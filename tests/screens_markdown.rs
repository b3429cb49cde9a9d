//! Frames of markdown and diffs.

use crystal::ui::theme::Theme;
use crystal::ui::{diff, highlight, markdown};
use ratatui::text::Line;

const SAMPLE: &str = include_str!("data/sample.md");

fn frame(lines: &[Line<'_>]) -> String {
    lines.iter().map(|line| format!("{}\n", line.to_string().trim_end())).collect()
}

fn check(name: &str, lines: &[Line<'_>]) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, frame(lines)));
}

#[test]
fn a_rich_document_fits_wide_and_narrow_screens() {
    highlight::load_now();
    for width in [80, 40] {
        check(&format!("markdown_{width}"), &markdown::render(SAMPLE, width, &Theme::plain()));
    }
}

#[test]
fn a_table_that_is_too_wide_wraps_its_cells_or_turns_into_rows() {
    let text = "| name | what it does | default |\n|---|---|--:|\n| timeout | How long a request may be silent before it is given up | 90 |\n| retries | How often it is tried again | 5 |\n";
    for width in [40, 14] {
        check(&format!("markdown_table_{width}"), &markdown::render(text, width, &Theme::plain()));
    }
}

// T02: tabs are expanded before text comes here; the indent of code stays.
#[test]
fn a_diff_has_numbers_marks_and_separators() {
    highlight::load_now();
    let text = "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1,4 +1,4 @@\n fn main() {\n-    let name = \"old\";\n+    let name = \"new\";\n     println!(\"{name} is a line that is longer than forty columns\");\n }\n@@ -98,2 +98,3 @@\n // end\n+// 漢字 👍\n fn last() {}\n";
    for width in [80, 40] {
        check(&format!("diff_{width}"), &diff::render(text, "src/main.rs", width, &Theme::plain()));
    }
}
