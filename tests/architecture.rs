//! The layers of the program and what each may name. The constant [`LAYERS`] is the one place that says so;
//! ARCHITECTURE.md points here.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "the test reads the sources")]

mod rules;

use rules::{NamePath, Source, paths, read, root, sources};

/// A folder of `src/`, what it may name beside itself, and the crates that it must not contain.
struct Layer {
    module: &'static str,
    may_use: &'static [&'static str],
    must_not: &'static [&'static str],
}

/// The pure layers: no runtime, no screen, no network, no files, no environment, no processes.
const EDGE: &[&str] = &[
    "tokio",
    "tokio_util",
    "futures_util",
    "ratatui",
    "crossterm",
    "tui_textarea",
    "reqwest",
    "rustls",
    "eventsource_stream",
    "rustix",
    "tempfile",
    "ignore",
    "dirs",
    "std::fs",
    "std::env",
    "std::process",
    "std::net::TcpStream",
    "std::net::TcpListener",
    "std::net::UdpSocket",
    "std::os",
    "std::thread",
];
const NO_SCREEN: &[&str] = &["ratatui", "crossterm", "tui_textarea"];
const NO_SCREEN_NO_NETWORK: &[&str] = &["ratatui", "crossterm", "tui_textarea", "reqwest"];
/// The drawing layer has ratatui and nothing else of the edge.
const DRAWING: &[&str] = &[
    "tokio",
    "tokio_util",
    "futures_util",
    "crossterm",
    "tui_textarea",
    "reqwest",
    "rustls",
    "eventsource_stream",
    "rustix",
    "tempfile",
    "ignore",
    "dirs",
    "std::fs",
    "std::env",
    "std::process",
    "std::net::TcpStream",
    "std::net::TcpListener",
    "std::net::UdpSocket",
    "std::os",
    "std::thread",
];

const APP_AND_BELOW: &[&str] = &[
    "app",
    "trace",
    "turn",
    "config",
    "approval",
    "compaction",
    "session",
    "conversation",
    "base",
];
const COMMAND_AND_BELOW: &[&str] = &[
    "command",
    "app",
    "trace",
    "turn",
    "config",
    "approval",
    "compaction",
    "session",
    "conversation",
    "base",
];
const VALUES: &[&str] = &["base", "conversation", "session", "approval", "config", "trace"];
const VALUES_AND_STORE: &[&str] =
    &["base", "conversation", "session", "approval", "config", "trace", "store"];
const VALUES_AND_SANDBOX: &[&str] =
    &["base", "conversation", "session", "approval", "config", "trace", "sandbox"];
/// Stands for every module.
const ALL: &str = "*";

#[rustfmt::skip]
const LAYERS: &[Layer] = &[
    Layer { module: "base", may_use: &[], must_not: EDGE },
    Layer { module: "conversation", may_use: &["base"], must_not: EDGE },
    Layer { module: "session", may_use: &["base", "conversation"], must_not: EDGE },
    Layer { module: "compaction", may_use: &["base", "conversation"], must_not: EDGE },
    Layer { module: "approval", may_use: &["base", "conversation"], must_not: EDGE },
    Layer { module: "config", may_use: &["base", "conversation", "approval"], must_not: EDGE },
    Layer { module: "turn", may_use: &["base", "conversation", "compaction", "approval"], must_not: EDGE },
    Layer { module: "trace", may_use: &["base", "conversation", "session"], must_not: EDGE },
    Layer { module: "app", may_use: APP_AND_BELOW, must_not: EDGE },
    Layer { module: "command", may_use: APP_AND_BELOW, must_not: EDGE },
    Layer { module: "update", may_use: COMMAND_AND_BELOW, must_not: EDGE },
    Layer { module: "ui", may_use: APP_AND_BELOW, must_not: DRAWING },
    Layer { module: "provider", may_use: VALUES, must_not: NO_SCREEN },
    Layer { module: "tool", may_use: VALUES_AND_SANDBOX, must_not: NO_SCREEN },
    Layer { module: "store", may_use: VALUES, must_not: NO_SCREEN_NO_NETWORK },
    Layer { module: "sandbox", may_use: VALUES, must_not: NO_SCREEN_NO_NETWORK },
    Layer { module: "mcp", may_use: VALUES, must_not: NO_SCREEN },
    Layer { module: "checkpoint", may_use: VALUES, must_not: NO_SCREEN_NO_NETWORK },
    Layer { module: "import", may_use: VALUES_AND_STORE, must_not: NO_SCREEN_NO_NETWORK },
    Layer { module: "search", may_use: VALUES_AND_STORE, must_not: NO_SCREEN_NO_NETWORK },
    Layer { module: "telemetry", may_use: VALUES, must_not: NO_SCREEN },
    Layer { module: "terminal", may_use: &["base", "app"], must_not: &["reqwest", "rustls", "tui_textarea"] },
    Layer { module: "host", may_use: &[ALL], must_not: &[] },
    Layer { module: "cli", may_use: &[ALL], must_not: &[] },
];

/// (module, what it must not name although its layer says `*`).
const BUT: &[(&str, &str)] = &[("cli", "update")];

/// (folder, crate): the one place that may name it.
const EXCEPTIONS: &[(&str, &str)] = &[("app/composer", "tui_textarea")];

/// Lines of `main.rs`.
const MAIN_LINES_MAX: usize = 80;

fn layer(module: &str) -> Option<&'static Layer> {
    LAYERS.iter().find(|layer| layer.module == module)
}

/// Returns what one file of `src/` does against the table.
fn complaints(source: &Source) -> Vec<String> {
    let Some(path) = source.path.strip_prefix("src/") else { return Vec::new() };
    match path.split_once('/') {
        None => complaints_of_root(source, path),
        Some((module, _)) => match layer(module) {
            Some(layer) => complaints_of_layer(source, path, layer),
            None => vec![format!("{path}: {module} is not in LAYERS")],
        },
    }
}

fn complaints_of_root(source: &Source, path: &str) -> Vec<String> {
    let code = source.code();
    let mut found = Vec::new();
    match path {
        "main.rs" => {
            let named = paths(source).into_iter().filter_map(|p| match p.names.as_slice() {
                [crystal, module, ..] if crystal == "crystal" => Some(module.clone()),
                _ => None,
            });
            let foreign = named.filter(|module| !matches!(module.as_str(), "cli" | "host"));
            found.extend(foreign.map(|module| format!("main.rs: main names {module}")));
            if source.line_count() >= MAIN_LINES_MAX {
                found.push(format!("main.rs: {} lines", source.line_count()));
            }
        }
        "lib.rs" if code.iter().any(|t| matches!(t.text.as_str(), "fn" | "struct" | "use")) => {
            found.push("lib.rs: more than a list of modules".to_owned());
        }
        "lib.rs" => {}
        other => found.push(format!("{other}: beside main.rs and lib.rs src/ has folders only")),
    }
    found
}

fn complaints_of_layer(source: &Source, path: &str, layer: &Layer) -> Vec<String> {
    let module = layer.module;
    let mut found = Vec::new();
    for name_path in paths(source) {
        if let Some(named) = module_named(path, &name_path)
            && !may_name(layer, &named)
        {
            found.push(format!("{path}: {module} names {named}"));
        }
        // Tests may prepare files and the like; they may not lean on another layer.
        if let Some(named) =
            layer.must_not.iter().find(|banned| begins_with(&name_path.names, banned))
            && !name_path.in_test
            && !EXCEPTIONS
                .iter()
                .any(|(folder, allowed)| path.starts_with(folder) && allowed == named)
        {
            found.push(format!("{path}:{}: {module} names {named}", name_path.line));
        }
    }
    found.dedup();
    found
}

fn may_name(layer: &Layer, named: &str) -> bool {
    let is_known = layer_of_crate(named);
    if named == layer.module || !is_known {
        return true;
    }
    if BUT.contains(&(layer.module, named)) {
        return false;
    }
    layer.may_use.contains(&ALL) || layer.may_use.contains(&named)
}

/// Whether a name at the root of the crate is a module: a macro may stand there, too.
fn layer_of_crate(named: &str) -> bool {
    layer(named).is_some()
}

/// Returns the module of the crate that a path leads to.
fn module_named(file: &str, path: &NamePath) -> Option<String> {
    match path.names.first()?.as_str() {
        "crate" | "crystal" => path.names.get(1).cloned(),
        "super" | "self" => {
            let steps = path.names.iter().take_while(|name| *name == "super" || *name == "self");
            let (ups, skip) = steps
                .fold((0, 0), |(ups, skip), name| (ups + usize::from(name == "super"), skip + 1));
            let depth = depth_of(file) + path.inside.len();
            (ups == depth).then(|| path.names.get(skip).cloned()).flatten()
        }
        _ => None,
    }
}

/// How many modules a file is below the root: `a/mod.rs` 1, `a/b.rs` 2.
fn depth_of(file: &str) -> usize {
    let parts = file.split('/').count();
    if file.ends_with("/mod.rs") { parts - 1 } else { parts }
}

fn begins_with(names: &[String], banned: &str) -> bool {
    let mut names = names.iter();
    banned.split("::").all(|part| names.next().is_some_and(|name| name == part))
}

#[test]
fn every_module_names_only_what_its_layer_may() {
    let found: Vec<String> = sources("src").iter().flat_map(complaints).collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn every_folder_of_src_has_a_layer_and_a_place_in_the_code_map() {
    let map = read("ARCHITECTURE.md");
    for entry in std::fs::read_dir(root().join("src")).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_dir() {
            let name = entry.file_name().into_string().unwrap();
            assert!(layer(&name).is_some(), "src/{name} is not in LAYERS");
            assert!(map.contains(&format!("`{name}`")), "ARCHITECTURE.md does not name `{name}`");
        }
    }
}

#[test]
fn every_dependency_has_its_reason() {
    let map = read("ARCHITECTURE.md");
    let manifest = read("Cargo.toml");
    let sections = manifest
        .split("\n[")
        .filter(|s| s.starts_with("dependencies]") || s.starts_with("dev-dep"));
    for line in sections.flat_map(str::lines).skip(1) {
        let Some((name, _)) = line.split_once(" = ") else { continue };
        if !line.starts_with(['#', ' ']) {
            assert!(
                map.contains(&format!("`{name}`")),
                "ARCHITECTURE.md does not say why `{name}` is used"
            );
        }
    }
}

/// One file as the checker sees it; the expected complaint, or nothing.
fn check(path: &str, text: &str, wanted: &[&str]) {
    assert_eq!(complaints(&Source::new(path, text)), wanted, "{text}");
}

#[test]
fn a_module_that_names_a_higher_one_is_found() {
    let path = "src/compaction/mod.rs";
    for text in [
        "use crate::ui::theme::Role;",
        "use crate::{base::id, ui::theme};",
        "use crate::{\n    ui,\n};",
        "fn f() { crate::ui::draw(); }",
        "use super::ui::theme;",
        "mod inner { use super::super::ui::theme; }",
        "#[cfg(test)]\nmod tests { use crate::ui::theme; }",
    ] {
        check(path, text, &["compaction/mod.rs: compaction names ui"]);
    }
    check(
        "src/compaction/a/b.rs",
        "use super::super::super::ui::x;",
        &["compaction/a/b.rs: compaction names ui"],
    );
    check("src/provider/mod.rs", "use crate::tool::x;", &["provider/mod.rs: provider names tool"]);
    check("src/cli/mod.rs", "use crate::update::x;", &["cli/mod.rs: cli names update"]);
}

#[test]
fn what_a_module_may_name_is_left_alone() {
    for (path, text) in [
        ("src/compaction/mod.rs", "use crate::{base::{id, time}, conversation};"),
        ("src/compaction/cut.rs", "use super::plan::Plan; mod t { use super::x; }"),
        ("src/compaction/cut.rs", "// crate::ui\n/* crate::ui */ const A: &str = \"crate::ui\";"),
        (
            "src/compaction/cut.rs",
            "const A: &str = r#\"crate::ui \"x\" tokio::spawn\"#; const Q: char = '\"';",
        ),
        (
            "src/compaction/cut.rs",
            "fn f<'a>(x: &'a str) { x.crate_; ui::go(); crate::my_macro!(); }",
        ),
        ("src/host/mod.rs", "use crate::{ui, update, provider}; use tokio::task;"),
        ("src/turn/a.rs", "#[cfg(test)]\nmod tests { use proptest::prelude::*; use std::fs; }"),
    ] {
        check(path, text, &[]);
    }
}

#[test]
fn a_crate_of_the_edge_in_a_pure_layer_is_found() {
    for (text, banned) in [
        ("use tokio::sync::mpsc;", "tokio"),
        ("use tokio;", "tokio"),
        ("use std::{fmt, fs};", "std::fs"),
        ("fn f() { std::env::var(\"X\"); }", "std::env"),
        ("use reqwest::Client as C;", "reqwest"),
        ("use std::net::{IpAddr, TcpStream};", "std::net::TcpStream"),
    ] {
        check("src/turn/mod.rs", text, &[&format!("turn/mod.rs:1: turn names {banned}")]);
    }
    check("src/ui/mod.rs", "use ratatui::style::Style;", &[]);
    check("src/ui/mod.rs", "use crossterm::event;", &["ui/mod.rs:1: ui names crossterm"]);
    check("src/provider/a.rs", "use ratatui::style;", &["provider/a.rs:1: provider names ratatui"]);
}

#[test]
fn the_composer_alone_may_name_its_widget() {
    check("src/app/composer/mod.rs", "use tui_textarea::TextArea;", &[]);
    check(
        "src/app/mod.rs",
        "use tui_textarea::TextArea;",
        &["app/mod.rs:1: app names tui_textarea"],
    );
}

#[test]
fn the_root_of_the_crate_stays_small() {
    check("src/main.rs", "use crystal::{cli, ui};", &["main.rs: main names ui"]);
    check("src/main.rs", &"\n".repeat(90), &["main.rs: 90 lines"]);
    check("src/lib.rs", "pub mod a; fn f() {}", &["lib.rs: more than a list of modules"]);
    check("src/misc.rs", "", &["misc.rs: beside main.rs and lib.rs src/ has folders only"]);
    check("src/new/mod.rs", "", &["new/mod.rs: new is not in LAYERS"]);
}
