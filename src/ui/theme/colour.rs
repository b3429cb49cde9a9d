//! Colours: how far apart they are, how readable, and what a terminal with fewer of them shows.

use ratatui::style::Color;

/// How many colours the terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ColourDepth {
    TrueColour,
    Indexed256,
    Ansi16,
    /// `NO_COLOR`, or a terminal without any: attributes only.
    None,
}

/// Red, green, blue.
pub type Rgb = (u8, u8, u8);

/// The six steps of the 256-colour cube (xterm).
const CUBE_STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Colours of the 16 that are readable on dark and on light backgrounds, with the hue in degrees that
/// each stands for. Black, white and the greys are not: which of them is the background differs.
const SAFE_HUES: [(u16, Color); 7] = [
    (0, Color::Red),
    (50, Color::Yellow),
    (120, Color::Green),
    (185, Color::Cyan),
    (225, Color::Blue),
    (300, Color::Magenta),
    (360, Color::Red),
];

/// Differences between the strongest and the weakest channel below this look grey.
const GREY_CHROMA_MAX: u8 = 40;

impl ColourDepth {
    /// Returns the nearest colour of this depth; `None` for the terminal's own.
    pub fn nearest(self, wanted: Color) -> Option<Color> {
        match (self, wanted) {
            (Self::None, _) | (_, Color::Reset) => None,
            (Self::TrueColour, colour) => Some(colour),
            (Self::Indexed256, Color::Rgb(r, g, b)) => Some(Color::Indexed(indexed((r, g, b)))),
            (Self::Ansi16, Color::Rgb(r, g, b)) => safe16((r, g, b)),
            (Self::Ansi16, Color::Indexed(index @ 16..)) => safe16(of_index(index)),
            (_, named) => Some(named),
        }
    }
}

/// Returns the nearest of the 240 fixed colours: the cube and the ramp of greys.
pub fn indexed(wanted: Rgb) -> u8 {
    (16..=255).min_by_key(|index| distance(of_index(*index), wanted)).unwrap_or(15)
}

/// What a fixed colour (16 to 255) looks like.
fn of_index(index: u8) -> Rgb {
    if index >= 232 {
        let grey = 8 + (index - 232) * 10;
        return (grey, grey, grey);
    }
    let cube = usize::from(index.saturating_sub(16));
    (CUBE_STEPS[cube / 36 % 6], CUBE_STEPS[cube / 6 % 6], CUBE_STEPS[cube % 6])
}

fn distance(a: Rgb, b: Rgb) -> u32 {
    let square = |x: u8, y: u8| u32::from(x.abs_diff(y)).pow(2);
    // The eye weighs green most and blue least.
    3 * square(a.0, b.0) + 4 * square(a.1, b.1) + 2 * square(a.2, b.2)
}

fn safe16((r, g, b): Rgb) -> Option<Color> {
    let (max, min) = (r.max(g).max(b), r.min(g).min(b));
    let chroma = max - min;
    if chroma < GREY_CHROMA_MAX {
        return None;
    }
    let part = |x: u8, y: u8| 60 * (i32::from(x) - i32::from(y)) / i32::from(chroma);
    let hue = match max {
        _ if max == r => part(g, b).rem_euclid(360),
        _ if max == g => part(b, r) + 120,
        _ => part(r, g) + 240,
    };
    let hue = hue.unsigned_abs() as u16;
    SAFE_HUES.iter().min_by_key(|(known, _)| known.abs_diff(hue)).map(|(_, colour)| *colour)
}

/// Returns the contrast of two colours as WCAG 2 defines it: 1 to 21.
pub fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn luminance((r, g, b): Rgb) -> f64 {
    let linear = |channel: u8| {
        let x = f64::from(channel) / 255.0;
        if x <= 0.040_45 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrast_goes_from_1_to_21() {
        assert!((contrast((0, 0, 0), (255, 255, 255)) - 21.0).abs() < 0.01);
        assert!((contrast((9, 9, 9), (9, 9, 9)) - 1.0).abs() < 0.01);
    }

    // T12
    #[test]
    fn colours_degrade_to_the_nearest() {
        assert_eq!(indexed((255, 0, 0)), 196);
        assert_eq!(indexed((8, 8, 8)), 232);
        assert_eq!(indexed((255, 255, 255)), 231);
        for (wanted, named) in [
            ((230, 80, 80), Some(Color::Red)),
            ((120, 200, 120), Some(Color::Green)),
            ((220, 180, 90), Some(Color::Yellow)),
            ((110, 160, 240), Some(Color::Blue)),
            ((190, 150, 230), Some(Color::Magenta)),
            ((100, 200, 210), Some(Color::Cyan)),
            ((200, 200, 205), None),
        ] {
            assert_eq!(safe16(wanted), named, "{wanted:?}");
        }
    }
}
