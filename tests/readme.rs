//! What the README says about commands and keys is what the program has.

use crystal::app::keymap::{Keymap, Layer, parse_key};
use crystal::command::registry::COMMANDS;

const MARK: &str = "<!-- commands -->\n";

const README: &str = include_str!("../README.md");

/// The rows of the table under a heading, as cells.
fn table(heading: &str) -> Vec<Vec<String>> {
    let heading = format!("\n## {heading}\n");
    let after = README.split_once(&heading).map(|(_, after)| after).unwrap_or_default();
    let rows = after.lines().skip_while(|line| !line.starts_with('|'));
    let rows = rows.take_while(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect())
        .collect()
}

#[test]
fn the_commands_are_those_of_the_registry() {
    let row = |usage: &str, help: &str| format!("| `{}` | {help} |\n", usage.replace('|', "\\|"));
    let rows: String =
        COMMANDS.iter().map(|command| row(&command.usage.join("  "), command.help)).collect();
    let wanted = format!("| command | does |\n|---|---|\n{rows}");
    let written = README.split(MARK).nth(1).unwrap();
    assert_eq!(written, wanted, "put this between the marks in README.md:\n{wanted}");
}

#[test]
fn every_key_of_the_table_is_bound() {
    let keymap = Keymap::default();
    let table = table("Keys");
    assert!(table.len() > 10);
    for row in &table {
        for name in row[0].split(", ") {
            let key = parse_key(name).unwrap_or_else(|| panic!("{name} is not a key"));
            let action = keymap.lookup(Layer::EmptyComposer, key);
            assert!(action.is_some(), "{name} does nothing");
        }
    }
}

#[test]
fn what_is_not_built_is_not_promised() {
    let words = README.split(|letter: char| letter.is_whitespace() || "`,.;()|".contains(letter));
    for word in words.filter(|word| word.starts_with('/') && word.len() > 1) {
        let name = &word[1..];
        let is_command = name.chars().all(|letter| letter.is_ascii_lowercase());
        let is_built = COMMANDS.iter().any(|command| command.name == name);
        assert!(!is_command || is_built, "{word} is not a command of this version");
    }
}
