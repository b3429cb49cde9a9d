//! What the terminal can do, told by its environment: nothing is asked of the terminal itself.
//!
//! The values are passed in; reading the environment is the caller's.
//! Not here: the colour of the background, which only a query could tell.

use std::io::{self, IsTerminal};

use super::guard::KeyboardProtocol;

/// The environment variables that tell about a terminal, as far as they are set.
#[derive(Debug, Clone, Copy, Default)]
pub struct Environment<'a> {
    pub term: Option<&'a str>,
    pub colorterm: Option<&'a str>,
    pub no_color: Option<&'a str>,
    pub tmux: Option<&'a str>,
    pub sty: Option<&'a str>,
    /// Windows Terminal names its session here and sets no TERM.
    pub wt_session: Option<&'a str>,
}

/// How many colours there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColourDepth {
    None,
    Sixteen,
    Palette256,
    TrueColour,
}

/// A program between this one and the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multiplexer {
    None,
    Tmux,
    Screen,
}

/// What the terminal can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    pub colours: ColourDepth,
    pub keyboard: KeyboardProtocol,
    pub multiplexer: Multiplexer,
}

impl Facts {
    pub fn from_environment(environment: Environment<'_>) -> Self {
        Self {
            colours: colours(environment),
            keyboard: keyboard(environment),
            multiplexer: multiplexer(environment),
        }
    }
}

/// Whether both standard input and standard output are a terminal.
pub fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

fn colours(environment: Environment<'_>) -> ColourDepth {
    // no-color.org: any value but the empty one.
    if environment.no_color.is_some_and(|value| !value.is_empty()) {
        return ColourDepth::None;
    }
    let term = environment.term.unwrap_or("");
    if is_monochrome(term) {
        return ColourDepth::None;
    }
    let says_true = matches!(environment.colorterm, Some("truecolor" | "24bit"));
    if says_true || term.ends_with("-direct") || environment.wt_session.is_some() {
        return ColourDepth::TrueColour;
    }
    let has_palette = term.contains("256color")
        || ["xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm"].contains(&term);
    if has_palette { ColourDepth::Palette256 } else { ColourDepth::Sixteen }
}

/// Terminals whose descriptions have no colours.
fn is_monochrome(term: &str) -> bool {
    matches!(
        term,
        "dumb" | "vt52" | "vt100" | "vt102" | "vt220" | "vt320" | "xterm-mono" | "ansi-m"
    )
}

/// Old consoles print what they do not know; the others skip the sequence.
fn keyboard(environment: Environment<'_>) -> KeyboardProtocol {
    let term = environment.term.unwrap_or("");
    let prints_unknown = term.is_empty() && environment.wt_session.is_none();
    if prints_unknown || term == "linux" || term.starts_with("cons") || is_monochrome(term) {
        KeyboardProtocol::Plain
    } else {
        KeyboardProtocol::Enhanced
    }
}

fn multiplexer(environment: Environment<'_>) -> Multiplexer {
    let is_set = |value: Option<&str>| value.is_some_and(|text| !text.is_empty());
    let term = environment.term.unwrap_or("");
    if is_set(environment.tmux) || term.starts_with("tmux") {
        Multiplexer::Tmux
    } else if is_set(environment.sty) {
        Multiplexer::Screen
    } else {
        Multiplexer::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // T12
    #[test]
    fn colours_follow_the_environment() {
        for (term, colorterm, no_color, wanted) in [
            (Some("xterm-256color"), Some("truecolor"), None, ColourDepth::TrueColour),
            (Some("xterm-256color"), Some("truecolor"), Some("1"), ColourDepth::None),
            (Some("xterm-256color"), Some("truecolor"), Some(""), ColourDepth::TrueColour),
            (Some("xterm-256color"), None, None, ColourDepth::Palette256),
            (Some("screen-256color"), Some("yes"), None, ColourDepth::Palette256),
            (Some("xterm-kitty"), None, None, ColourDepth::Palette256),
            (Some("xterm-direct"), None, None, ColourDepth::TrueColour),
            (Some("xterm"), None, None, ColourDepth::Sixteen),
            (Some("linux"), None, None, ColourDepth::Sixteen),
            (Some("vt100"), None, None, ColourDepth::None),
            (Some("dumb"), Some("truecolor"), None, ColourDepth::None),
            (None, None, None, ColourDepth::Sixteen),
        ] {
            let environment = Environment { term, colorterm, no_color, ..Environment::default() };
            let facts = Facts::from_environment(environment);
            assert_eq!(facts.colours, wanted, "{environment:?}");
        }
    }

    #[test]
    fn consoles_that_print_unknown_sequences_are_not_asked_for_the_keyboard_protocol() {
        for (term, wanted) in [
            (Some("xterm-256color"), KeyboardProtocol::Enhanced),
            (Some("tmux-256color"), KeyboardProtocol::Enhanced),
            (Some("linux"), KeyboardProtocol::Plain),
            (Some("dumb"), KeyboardProtocol::Plain),
            (None, KeyboardProtocol::Plain),
        ] {
            let facts = Facts::from_environment(Environment { term, ..Environment::default() });
            assert_eq!(facts.keyboard, wanted, "{term:?}");
        }
    }

    #[test]
    fn a_multiplexer_is_known_by_its_variable() {
        let tmux = Environment { tmux: Some("/tmp/tmux,1,0"), ..Environment::default() };
        let screen = Environment { sty: Some("1.pts"), ..Environment::default() };
        assert_eq!(Facts::from_environment(tmux).multiplexer, Multiplexer::Tmux);
        assert_eq!(Facts::from_environment(screen).multiplexer, Multiplexer::Screen);
        assert_eq!(Facts::from_environment(Environment::default()).multiplexer, Multiplexer::None);
    }
}
