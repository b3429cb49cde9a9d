//! Theme files: names of roles to colours and attributes.
//!
//! ```json
//! { "kind": "dark", "background": "#16181d", "roles": { "text": { "fg": "#d7dae0" }, … } }
//! ```
//! A role that is left out looks like `text`. Unknown fields are errors that name the field, so that a
//! slip of the pen is found. The background is what colours were chosen for; it is not painted.

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Role;

/// The themes in the binary: name and file.
pub const BUILTIN: &[(&str, &str)] = &[
    ("crystal-dark", include_str!("../../../themes/crystal-dark.json")),
    ("crystal-light", include_str!("../../../themes/crystal-light.json")),
    ("high-contrast", include_str!("../../../themes/high-contrast.json")),
    ("mono", include_str!("../../../themes/mono.json")),
    ("gruvbox-dark", include_str!("../../../themes/gruvbox-dark.json")),
    ("nord", include_str!("../../../themes/nord.json")),
    ("catppuccin-mocha", include_str!("../../../themes/catppuccin-mocha.json")),
    ("solarized-dark", include_str!("../../../themes/solarized-dark.json")),
    ("solarized-light", include_str!("../../../themes/solarized-light.json")),
];

/// Every role with its name in a theme file, in the order of [`Role`].
const ROLES: [(Role, &str); Role::COUNT] = [
    (Role::Text, "text"),
    (Role::Dim, "dim"),
    (Role::Accent, "accent"),
    (Role::User, "user"),
    (Role::Heading, "heading"),
    (Role::Code, "code"),
    (Role::Link, "link"),
    (Role::Quote, "quote"),
    (Role::Added, "added"),
    (Role::Removed, "removed"),
    (Role::AddedWord, "added_word"),
    (Role::RemovedWord, "removed_word"),
    (Role::Success, "success"),
    (Role::Warning, "warning"),
    (Role::Error, "error"),
    (Role::Border, "border"),
    (Role::BorderActive, "border_active"),
    (Role::Selection, "selection"),
    (Role::Match, "match"),
    (Role::Status, "status"),
    (Role::ModeWork, "mode_work"),
    (Role::ModePlan, "mode_plan"),
    (Role::SyntaxKeyword, "syntax_keyword"),
    (Role::SyntaxString, "syntax_string"),
    (Role::SyntaxComment, "syntax_comment"),
    (Role::SyntaxFunction, "syntax_function"),
    (Role::SyntaxType, "syntax_type"),
    (Role::SyntaxNumber, "syntax_number"),
    (Role::SyntaxConstant, "syntax_constant"),
    (Role::SyntaxPunctuation, "syntax_punctuation"),
];

/// The background a theme is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThemeKind {
    Dark,
    Light,
}

/// A theme as its file says it.
#[derive(Debug, Clone, PartialEq)]
pub struct ThemeSpec {
    pub kind: ThemeKind,
    pub background: Option<Color>,
    styles: [Style; Role::COUNT],
}

impl ThemeSpec {
    /// Every role with its style, in the order of [`Role`].
    pub fn roles(&self) -> impl Iterator<Item = (Role, Style)> + '_ {
        ROLES.iter().zip(self.styles).map(|((role, _), style)| (*role, style))
    }
}

/// Why a theme file cannot be used; names the field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThemeError {
    #[error("not JSON: {0}")]
    NotJson(String),
    #[error("`{field}` is missing")]
    Missing { field: String },
    #[error("`{field}` is not known")]
    Unknown { field: String },
    #[error("`{field}` must be {wanted}")]
    Wrong { field: String, wanted: &'static str },
}

/// Reads a theme file.
pub fn load(text: &str) -> Result<ThemeSpec, ThemeError> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| ThemeError::NotJson(error.to_string()))?;
    let file = object(&value, "theme")?;
    known(file, "", &["kind", "background", "roles"])?;
    let wanted = "`dark` or `light`";
    let kind = file.get("kind").ok_or_else(|| missing("kind"))?;
    let kind = ThemeKind::deserialize(kind).map_err(|_| wrong("kind", wanted))?;
    let background = file.get("background").map(|v| colour(v, "background")).transpose()?;
    let roles = object(file.get("roles").ok_or_else(|| missing("roles"))?, "roles")?;
    known(roles, "roles.", &ROLES.map(|(_, name)| name))?;
    let base = role_style(roles, "text")?.unwrap_or_default();
    let mut styles = [base; Role::COUNT];
    for (style, (_, name)) in styles.iter_mut().zip(ROLES) {
        *style = role_style(roles, name)?.unwrap_or(base);
    }
    Ok(ThemeSpec { kind, background, styles })
}

fn role_style(roles: &Map<String, Value>, name: &str) -> Result<Option<Style>, ThemeError> {
    let Some(value) = roles.get(name) else { return Ok(None) };
    let field = format!("roles.{name}");
    let role = object(value, &field)?;
    let prefix = format!("{field}.");
    known(role, &prefix, &["fg", "bg", "bold", "dim", "italic", "underline"])?;
    let mut style = Style::new();
    if let Some(fg) = role.get("fg") {
        style = style.fg(colour(fg, &format!("{prefix}fg"))?);
    }
    if let Some(bg) = role.get("bg") {
        style = style.bg(colour(bg, &format!("{prefix}bg"))?);
    }
    for (key, modifier) in [
        ("bold", Modifier::BOLD),
        ("dim", Modifier::DIM),
        ("italic", Modifier::ITALIC),
        ("underline", Modifier::UNDERLINED),
    ] {
        match role.get(key) {
            None | Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => style = style.add_modifier(modifier),
            Some(_) => return Err(wrong(&format!("{prefix}{key}"), "true or false")),
        }
    }
    Ok(Some(style))
}

fn colour(value: &Value, field: &str) -> Result<Color, ThemeError> {
    let wanted = "`#rrggbb` or one of the 16 colour names";
    value.as_str().and_then(parse_colour).ok_or_else(|| wrong(field, wanted))
}

fn parse_colour(text: &str) -> Option<Color> {
    if let Some(hex) = text.strip_prefix('#') {
        let is_hex = hex.len() == 6 && hex.bytes().all(|b| b.is_ascii_hexdigit());
        let number = is_hex.then(|| u32::from_str_radix(hex, 16).ok()).flatten()?;
        return Some(Color::from_u32(number));
    }
    Some(match text {
        "black" => Color::Black,
        "red" => Color::Red,
        "green" => Color::Green,
        "yellow" => Color::Yellow,
        "blue" => Color::Blue,
        "magenta" => Color::Magenta,
        "cyan" => Color::Cyan,
        "white" => Color::Gray,
        "bright-black" => Color::DarkGray,
        "bright-red" => Color::LightRed,
        "bright-green" => Color::LightGreen,
        "bright-yellow" => Color::LightYellow,
        "bright-blue" => Color::LightBlue,
        "bright-magenta" => Color::LightMagenta,
        "bright-cyan" => Color::LightCyan,
        "bright-white" => Color::White,
        _ => return None,
    })
}

fn object<'a>(value: &'a Value, field: &str) -> Result<&'a Map<String, Value>, ThemeError> {
    value.as_object().ok_or_else(|| wrong(field, "an object"))
}

fn known(object: &Map<String, Value>, prefix: &str, names: &[&str]) -> Result<(), ThemeError> {
    match object.keys().find(|key| !names.contains(&key.as_str())) {
        Some(key) => Err(ThemeError::Unknown { field: format!("{prefix}{key}") }),
        None => Ok(()),
    }
}

fn missing(field: &str) -> ThemeError {
    ThemeError::Missing { field: field.to_owned() }
}

fn wrong(field: &str, wanted: &'static str) -> ThemeError {
    ThemeError::Wrong { field: field.to_owned(), wanted }
}

#[cfg(test)]
mod tests {
    use super::super::colour::{Rgb, contrast};
    use super::*;

    #[test]
    fn a_faulty_theme_names_its_field() {
        for (text, wanted) in [
            (r#"{"roles":{}}"#, "`kind` is missing"),
            (r#"{"kind":"grey","roles":{}}"#, "`kind` must be `dark` or `light`"),
            (r#"{"kind":"dark","roles":{"txet":{}}}"#, "`roles.txet` is not known"),
            (
                r##"{"kind":"dark","roles":{"text":{"fg":"#12345"}}}"##,
                "`roles.text.fg` must be `#rrggbb` or one of the 16 colour names",
            ),
            (
                r#"{"kind":"dark","roles":{"text":{"bold":1}}}"#,
                "`roles.text.bold` must be true or false",
            ),
            (
                r#"{"kind":"dark","roles":{"text":{"color":"red"}}}"#,
                "`roles.text.color` is not known",
            ),
        ] {
            assert_eq!(load(text).unwrap_err().to_string(), wanted);
        }
    }

    fn rgb(colour: Option<Color>) -> Option<Rgb> {
        match colour {
            Some(Color::Rgb(r, g, b)) => Some((r, g, b)),
            _ => None,
        }
    }

    // T12: the words can be read on the theme's background, and on plain black or white.
    #[test]
    fn builtin_themes_are_readable() {
        for (name, text) in BUILTIN {
            let spec = load(text).unwrap();
            let plain = match spec.kind {
                ThemeKind::Dark => vec![(0, 0, 0)],
                // White, and the cream that many light terminals use.
                ThemeKind::Light => vec![(255, 255, 255), (0xfd, 0xf6, 0xe3)],
            };
            for (role, style) in spec.roles() {
                let wanted = match role {
                    Role::Border => continue,
                    Role::Dim | Role::SyntaxComment | Role::SyntaxPunctuation | Role::Quote => 3.0,
                    _ => 4.5,
                };
                let Some(fg) = rgb(style.fg) else { continue };
                let grounds = match rgb(style.bg) {
                    Some(bg) => vec![bg],
                    None => rgb(spec.background).into_iter().chain(plain.clone()).collect(),
                };
                for ground in grounds {
                    let got = contrast(fg, ground);
                    assert!(got >= wanted, "{name}: {role:?} has {got:.2} on {ground:?}");
                }
            }
        }
    }
}
