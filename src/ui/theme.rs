//! Roles to styles.

pub mod colour;
pub mod spec;

use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::style::{Color, Modifier, Style};

use crate::base::text::sgr::{SgrColour, SgrStyle};
pub use colour::ColourDepth;
pub use spec::{BUILTIN, ThemeError, ThemeKind, ThemeSpec, load};

/// What a piece of the screen means; a theme says how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    Text,
    /// Less important: hints, reasoning, line numbers.
    Dim,
    Accent,
    /// The person's own words.
    User,
    Heading,
    /// Inline code and code blocks without a language.
    Code,
    Link,
    Quote,
    Added,
    Removed,
    AddedWord,
    RemovedWord,
    Success,
    Warning,
    Error,
    Border,
    BorderActive,
    /// The highlighted row of a list.
    Selection,
    /// Characters that a filter matched.
    Match,
    Status,
    ModeWork,
    ModePlan,
    SyntaxKeyword,
    SyntaxString,
    SyntaxComment,
    SyntaxFunction,
    SyntaxType,
    SyntaxNumber,
    SyntaxConstant,
    SyntaxPunctuation,
}

impl Role {
    pub const COUNT: usize = Self::SyntaxPunctuation as usize + 1;
}

/// One style a role. Cheap to compare by `id`: two themes with one id draw the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Theme {
    pub id: u64,
    styles: [Style; Role::COUNT],
    depth: ColourDepth,
}

impl Theme {
    pub fn new(id: u64, styles: [Style; Role::COUNT]) -> Self {
        Self { id, styles, depth: ColourDepth::TrueColour }
    }

    /// No colours at all, for tests and `NO_COLOR`.
    pub fn plain() -> Self {
        Self { depth: ColourDepth::None, ..Self::new(0, [Style::new(); Role::COUNT]) }
    }

    /// Returns the theme as a terminal of this colour depth can show it.
    pub fn resolve(spec: &ThemeSpec, depth: ColourDepth) -> Self {
        let mut styles = [Style::new(); Role::COUNT];
        for (style, (role, wanted)) in styles.iter_mut().zip(spec.roles()) {
            *style = degrade(role, wanted, depth);
        }
        let mut hasher = DefaultHasher::new();
        (styles, depth).hash(&mut hasher);
        // 0 is the plain theme's.
        Self { id: hasher.finish().max(1), styles, depth }
    }

    pub fn style(&self, role: Role) -> Style {
        self.styles[role as usize]
    }

    /// Returns how a run of program output looks under this theme.
    pub fn output(&self, sgr: SgrStyle) -> Style {
        let mut style = self.style(Role::Dim);
        if sgr == SgrStyle::default() {
            return style;
        }
        for (is_set, modifier) in [
            (sgr.bold, Modifier::BOLD),
            (sgr.dim, Modifier::DIM),
            (sgr.italic, Modifier::ITALIC),
            (sgr.underline, Modifier::UNDERLINED),
            (sgr.reversed, Modifier::REVERSED),
            (sgr.struck, Modifier::CROSSED_OUT),
        ] {
            if is_set {
                style = style.add_modifier(modifier);
            }
        }
        if let Some(fg) = sgr.fg.and_then(|fg| self.output_colour(fg)) {
            style = style.fg(fg).remove_modifier(Modifier::DIM);
        }
        if let Some(bg) = sgr.bg.and_then(|bg| self.output_colour(bg)) {
            style = style.bg(bg);
        }
        style
    }

    fn output_colour(&self, wanted: SgrColour) -> Option<Color> {
        let wanted = match wanted {
            SgrColour::Basic(index) | SgrColour::Indexed(index) => Color::Indexed(index),
            SgrColour::Rgb(r, g, b) => Color::Rgb(r, g, b),
        };
        match (self.depth, wanted) {
            (ColourDepth::None, _) => None,
            // The program's own choice among the 16 is not ours to change.
            (ColourDepth::Ansi16, Color::Indexed(0..=15)) => Some(wanted),
            (depth, wanted) => depth.nearest(wanted),
        }
    }
}

/// What colour says must be said without it too: see [`marks`].
fn degrade(role: Role, wanted: Style, depth: ColourDepth) -> Style {
    let mut style = wanted;
    style.fg = wanted.fg.and_then(|fg| depth.nearest(fg));
    style.bg = match depth {
        // Of 16 colours none is a quiet background on both dark and light.
        ColourDepth::Ansi16 | ColourDepth::None => None,
        ColourDepth::TrueColour | ColourDepth::Indexed256 => {
            wanted.bg.and_then(|bg| depth.nearest(bg))
        }
    };
    if wanted.fg.is_some() && style.fg.is_none() && matches!(role, Role::Dim | Role::SyntaxComment)
    {
        style = style.add_modifier(Modifier::DIM);
    }
    if style.bg.is_none() {
        style = marks(role, style);
    }
    style
}

/// Adds the attributes that stand for a background.
fn marks(role: Role, style: Style) -> Style {
    match role {
        Role::Selection => Style { fg: None, ..style }.add_modifier(Modifier::REVERSED),
        Role::AddedWord | Role::RemovedWord | Role::Match => {
            style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
        }
        _ => style,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn builtin(name: &str) -> ThemeSpec {
        let (_, text) = BUILTIN.iter().find(|(known, _)| *known == name).unwrap();
        load(text).unwrap()
    }

    // T12: without colours nothing is coloured, and what colour said is said otherwise.
    #[test]
    fn no_colour_leaves_attributes_only() {
        for (name, _) in BUILTIN {
            let theme = Theme::resolve(&builtin(name), ColourDepth::None);
            for style in theme.styles {
                assert_eq!((style.fg, style.bg), (None, None), "{name}");
            }
            assert!(theme.style(Role::Selection).add_modifier.contains(Modifier::REVERSED));
            assert!(theme.style(Role::AddedWord).add_modifier.contains(Modifier::UNDERLINED));
            let red = SgrStyle { fg: Some(SgrColour::Basic(1)), ..SgrStyle::default() };
            assert_eq!(theme.output(red).fg, None);
        }
    }

    // T12
    #[test]
    fn sixteen_colours_use_the_terminals_own_text_colour() {
        let theme = Theme::resolve(&builtin("crystal-dark"), ColourDepth::Ansi16);
        assert_eq!(theme.style(Role::Text).fg, None);
        assert!(theme.style(Role::Dim).add_modifier.contains(Modifier::DIM));
        assert_eq!(theme.style(Role::Error).fg, Some(Color::Red));
        assert_eq!(theme.style(Role::Added).fg, Some(Color::Green));
        assert!(theme.style(Role::Selection).add_modifier.contains(Modifier::REVERSED));
    }

    #[test]
    fn themes_that_draw_differently_have_different_ids() {
        let spec = builtin("crystal-dark");
        let ids = [
            ColourDepth::TrueColour,
            ColourDepth::Indexed256,
            ColourDepth::Ansi16,
            ColourDepth::None,
        ]
        .map(|depth| Theme::resolve(&spec, depth).id);
        for (index, id) in ids.iter().enumerate() {
            assert!(!ids[..index].contains(id) && *id != Theme::plain().id);
        }
    }
}
