//! Rules of size and form that no lint checks. Each ratchet names what is over a limit today; it may only
//! shrink, and the test says when it can.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "the test reads the sources")]

mod rules;

use rules::{Item, Kind, Source, items, read, sources};

/// Lines of a file without its tests module.
const FILE_LINES_MAX: usize = 500;
const STRUCT_FIELDS_MAX: usize = 15;
/// Fields of the two structs that would grow into gods.
const STATE_FIELDS_MAX: usize = 12;
const ENUM_VARIANTS_MAX: usize = 30;
/// Variants of the enums that the root routes.
const ROOT_VARIANTS_MAX: usize = 12;

const STATE_STRUCTS: &[&str] = &["App", "LiveSession"];
const ROOT_ENUMS: &[&str] = &["Event", "Effect", "Report", "Said"];
const VAGUE_NAMES: &[&str] = &["util", "utils", "helper", "helpers", "common", "misc"];

/// (what, how big it is today): `src/a/b.rs` for a file, `src/a/b.rs Name` for a struct or an enum.
///
/// The configuration has one field a key of its file: grouping them would part the two.
const RATCHET: &[(&str, usize)] = &[("src/config/schema.rs Config", 21)];

/// Folders of one machine. A path of an example is written in a test, whole, as a literal of its own.
const MACHINE_FOLDERS: &[&str] = &["/home/", "/root/", "/work/"];

/// Complaints about one file.
fn complaints(source: &Source, ratchet: &[(&str, usize)]) -> Vec<String> {
    let mut found = Vec::new();
    let in_src = source.path.starts_with("src/");
    if in_src {
        found.extend(over(&source.path, source.line_count(), FILE_LINES_MAX, "lines", ratchet));
        for item in items(source) {
            found.extend(size_of_item(source, &item, ratchet));
            found.extend(flags_of_item(source, &item));
        }
        found.extend(parts_of_path(source));
        found.extend(foreign_impl(source));
    }
    found.extend(unfinished(source));
    found.extend(machine_paths(source));
    found
}

/// A size over its limit must be in the ratchet with exactly this size.
fn over(
    what: &str,
    size: usize,
    size_max: usize,
    unit: &str,
    ratchet: &[(&str, usize)],
) -> Option<String> {
    let allowed = ratchet.iter().find(|(name, _)| *name == what).map(|(_, size)| *size);
    match allowed {
        None if size > size_max => Some(format!("{what}: {size} {unit}, at most {size_max}")),
        Some(_) if size <= size_max => {
            Some(format!("{what}: within its limit; take it off the ratchet"))
        }
        Some(allowed) if size > allowed => {
            Some(format!("{what}: grew from {allowed} to {size} {unit}"))
        }
        Some(allowed) if size < allowed => Some(format!("{what}: lower its ratchet to {size}")),
        _ => None,
    }
}

fn size_of_item(source: &Source, item: &Item, ratchet: &[(&str, usize)]) -> Option<String> {
    let in_app = source.path.starts_with("src/app/");
    let name = item.name.as_str();
    let (size_max, unit) = match item.keyword.as_str() {
        "struct" if in_app && STATE_STRUCTS.contains(&name) => (STATE_FIELDS_MAX, "fields"),
        "struct" => (STRUCT_FIELDS_MAX, "fields"),
        _ if in_app && ROOT_ENUMS.contains(&name) => (ROOT_VARIANTS_MAX, "variants"),
        _ => (ENUM_VARIANTS_MAX, "variants"),
    };
    over(&format!("{} {name}", source.path), item.parts.len(), size_max, unit, ratchet)
}

fn flags_of_item(source: &Source, item: &Item) -> Vec<String> {
    if item.keyword != "struct" {
        return Vec::new();
    }
    let place = format!("{} {}", source.path, item.name);
    let one_shot = item
        .parts
        .iter()
        .filter(|field| field.starts_with("suppress_") || field.starts_with("skip_"));
    let mut found: Vec<String> = one_shot
        .map(|field| format!("{place}: `{field}` is a one-shot flag; make it a state"))
        .collect();
    let stem = |field: &str| {
        field
            .strip_suffix("_pending")
            .or_else(|| field.strip_suffix("_complete"))
            .map(str::to_owned)
    };
    for field in &item.parts {
        let Some(stem) = stem(field) else { continue };
        if item.parts.iter().any(|other| other != field && other.starts_with(&stem)) {
            found.push(format!("{place}: `{field}` and its group are one `Lookup`"));
        }
    }
    found
}

fn parts_of_path(source: &Source) -> Option<String> {
    let path = source.path.trim_end_matches(".rs");
    let vague = path.split('/').find(|part| VAGUE_NAMES.contains(part))?;
    Some(format!("{}: `{vague}` says nothing; name the subject", source.path))
}

fn foreign_impl(source: &Source) -> Option<String> {
    if source.path == "src/app/mod.rs" {
        return None;
    }
    let code: Vec<&str> = source.code().iter().map(|t| t.text.as_str()).collect();
    let found = (0..code.len()).any(|at| {
        // What stands between `impl` and `App` may be generics only.
        code[at] == "App"
            && code.get(at + 1) == Some(&"{")
            && code[..at].iter().rposition(|t| *t == "impl").is_some_and(|start| {
                let between = &code[start + 1..at];
                !between.iter().any(|t| matches!(*t, "for" | "{" | "}" | ";" | "(" | "fn"))
            })
    });
    found.then(|| format!("{}: `impl App` belongs into src/app/mod.rs", source.path))
}

fn unfinished(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    let code = source.code();
    for pair in code.windows(2) {
        if matches!(pair[0].text.as_str(), "todo" | "unimplemented") && pair[1].text == "!" {
            found.push(format!("{}:{}: `{}!`", source.path, pair[0].line, pair[0].text));
        }
    }
    let comments = source.tokens.iter().filter(|t| t.kind == Kind::Comment);
    for comment in comments {
        let mut words = comment.text.split(|c: char| !c.is_alphanumeric() && c != '_');
        if let Some(word) = words.find(|word| matches!(*word, "FIXME" | "XXX")) {
            found.push(format!("{}:{}: {word}", source.path, comment.line));
        }
    }
    found
}

fn machine_paths(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    for token in &source.tokens {
        let folder = MACHINE_FOLDERS.iter().find(|folder| token.text.contains(*folder));
        let Some(folder) = folder.filter(|_| matches!(token.kind, Kind::Text | Kind::Comment))
        else {
            continue;
        };
        let is_example = token.in_test && token.kind == Kind::Text;
        if !is_example {
            found.push(format!("{}:{}: a path of a machine ({folder})", source.path, token.line));
        }
    }
    found
}

#[test]
fn the_sources_are_tidy() {
    let all = sources("src").into_iter().chain(sources("tests"));
    let found: Vec<String> = all.flat_map(|source| complaints(&source, RATCHET)).collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn the_ratchet_names_what_exists() {
    let known: Vec<String> = sources("src")
        .iter()
        .flat_map(|s| {
            let items = items(s).into_iter().map(|item| format!("{} {}", s.path, item.name));
            items.chain([s.path.clone()]).collect::<Vec<_>>()
        })
        .collect();
    for (what, _) in RATCHET {
        assert!(known.iter().any(|name| name == what), "{what} is gone; take it off the ratchet");
    }
}

#[test]
fn the_documents_name_no_machine() {
    for path in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "Cargo.toml",
        "deny.toml",
        ".ci/run",
    ] {
        let text = read(path);
        for folder in MACHINE_FOLDERS {
            assert!(!text.contains(folder), "{path} names {folder}");
        }
    }
}

#[test]
fn the_command_of_the_readme_is_what_the_gate_runs() {
    let command = "cargo test";
    assert!(read("README.md").lines().any(|line| line.trim() == command));
    assert!(read(".ci/run").lines().any(|line| line.trim().ends_with(command)));
}

#[test]
fn the_readme_marks_its_table_of_commands() {
    let readme = read("README.md");
    let parts: Vec<&str> = readme.split("<!-- commands -->").collect();
    assert_eq!(parts.len(), 3, "the table stands between two marks");
    assert!(parts[1].contains("| `/help`"));
}

/// The complaints about one file, with an empty ratchet.
fn check(path: &str, text: &str, wanted: &[&str]) {
    assert_eq!(complaints(&Source::new(path, text), &[]), wanted, "{text}");
}

fn body(count: usize, part: &str) -> String {
    (0..count).map(|n| part.replace('#', &n.to_string())).collect()
}

#[test]
fn a_long_file_is_found_and_its_tests_are_not_counted() {
    let long = "const A: u8 = 0;\n".repeat(501);
    check("src/a/b.rs", &long, &["src/a/b.rs: 501 lines, at most 500"]);
    let tested =
        format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", "const A: u8 = 0;\n".repeat(400), long);
    check("src/a/b.rs", &tested, &[]);
}

#[test]
fn a_ratchet_only_shrinks() {
    for (size, wanted) in [
        (60, None),
        (61, Some("f: grew from 60 to 61 lines")),
        (59, Some("f: lower its ratchet to 59")),
        (50, Some("f: within its limit; take it off the ratchet")),
    ] {
        assert_eq!(over("f", size, 50, "lines", &[("f", 60)]).as_deref(), wanted);
    }
}

#[test]
fn a_struct_with_too_many_fields_is_found() {
    let fields =
        |count| format!("pub struct S<T: Copy> {{ {} }}", body(count, "pub f#: HashMap<K, V>, "));
    check("src/a/b.rs", &fields(15), &[]);
    check("src/a/b.rs", &fields(16), &["src/a/b.rs S: 16 fields, at most 15"]);
    let app = format!("struct App {{ {} }}", body(13, "f#: Box<dyn Fn(u8) -> u8>, "));
    check("src/app/mod.rs", &app, &["src/app/mod.rs App: 13 fields, at most 12"]);
}

#[test]
fn an_enum_with_too_many_variants_is_found() {
    let variants = |name: &str, count| {
        format!("enum {name} {{ {} }}", body(count, "#[x(a, b)] V#(A, B), W# { c: D, e: F }, "))
    };
    check("src/a/b.rs", &variants("E", 15), &[]);
    check("src/a/b.rs", &variants("E", 16), &["src/a/b.rs E: 32 variants, at most 30"]);
    check(
        "src/app/event.rs",
        &variants("Said", 7),
        &["src/app/event.rs Said: 14 variants, at most 12"],
    );
}

#[test]
fn flags_that_should_be_states_are_found() {
    check(
        "src/a/b.rs",
        "struct S { suppress_next: bool, skip_draw: bool, skipped: u8 }",
        &[
            "src/a/b.rs S: `suppress_next` is a one-shot flag; make it a state",
            "src/a/b.rs S: `skip_draw` is a one-shot flag; make it a state",
        ],
    );
    check(
        "src/a/b.rs",
        "struct S { models: Vec<u8>, models_pending: bool }",
        &["src/a/b.rs S: `models_pending` and its group are one `Lookup`"],
    );
    check("src/a/b.rs", "struct S { is_pending: bool, rows: u8 }", &[]);
}

#[test]
fn vague_names_and_scattered_methods_are_found() {
    check("src/a/util.rs", "", &["src/a/util.rs: `util` says nothing; name the subject"]);
    check("src/common/b.rs", "", &["src/common/b.rs: `common` says nothing; name the subject"]);
    let wanted = "src/a/b.rs: `impl App` belongs into src/app/mod.rs";
    check("src/a/b.rs", "fn g() {} impl App { fn f() {} }", &[wanted]);
    check("src/a/b.rs", "impl<'a> App { }", &[wanted]);
    check("src/a/b.rs", "impl Debug for App { } fn f() -> App { App { } }", &[]);
    check("src/app/mod.rs", "impl App { }", &[]);
}

#[test]
fn unfinished_work_is_found() {
    check(
        "src/a/b.rs",
        "fn f() { todo!() }\nfn g() { unimplemented!() }",
        &["src/a/b.rs:1: `todo!`", "src/a/b.rs:2: `unimplemented!`"],
    );
    check("src/a/b.rs", "\n// FIXME later", &["src/a/b.rs:2: FIXME"]);
    check("src/a/b.rs", "const A: &str = \"FIXME todo!()\";", &[]);
}

#[test]
fn paths_of_a_machine_are_found_unless_a_test_uses_them_as_examples() {
    check(
        "src/a/b.rs",
        "const A: &str = \"/home/me/x\";",
        &["src/a/b.rs:1: a path of a machine (/home/)"],
    );
    check("src/a/b.rs", "// see /root/x", &["src/a/b.rs:1: a path of a machine (/root/)"]);
    check("src/a/b.rs", "const A: &str = \"~/network/\";", &[]);
    check("src/a/b.rs", "#[cfg(test)]\nmod tests { const A: &str = \"/home/me/x\"; }", &[]);
    check("tests/x.rs", "const A: &str = \"/work/x\";", &[]);
    check("tests/x.rs", "// made in /work/x", &["tests/x.rs:1: a path of a machine (/work/)"]);
}
