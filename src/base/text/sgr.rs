//! Colours and attributes of program output (SGR), as plain data.
//!
//! Not here: how a theme shows them (`ui::theme`). Concealed text is not concealed: nothing may hide.

/// How a run of output looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SgrStyle {
    pub fg: Option<SgrColour>,
    pub bg: Option<SgrColour>,
    pub bold: bool,
    pub dim: bool,
    pub italic: bool,
    pub underline: bool,
    pub reversed: bool,
    pub struck: bool,
}

/// A colour as the program named it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SgrColour {
    /// 0 to 7, and 8 to 15 for the bright ones.
    Basic(u8),
    Indexed(u8),
    Rgb(u8, u8, u8),
}

impl SgrStyle {
    /// Applies the parameters of one SGR sequence; unknown ones are passed over.
    pub fn apply(&mut self, parameters: &str) {
        let mut codes = parameters.split(';');
        while let Some(code) = codes.next() {
            // `38:2::r:g:b` carries its parts itself, `38;2;r;g;b` takes them from what follows.
            let mut parts = code.split(':');
            let number = parts.next().unwrap_or("");
            let has_parts = code.contains(':');
            match number.parse::<u16>().unwrap_or(0) {
                38 if has_parts => self.fg = colour_of_parts(parts).or(self.fg),
                38 => self.fg = colour(&mut codes).or(self.fg),
                48 if has_parts => self.bg = colour_of_parts(parts).or(self.bg),
                48 => self.bg = colour(&mut codes).or(self.bg),
                // Colour of the underline: taken from the list, not shown.
                58 if !has_parts => {
                    colour(&mut codes);
                }
                4 if has_parts => self.underline = parts.next() != Some("0"),
                simple => self.apply_simple(simple),
            }
        }
    }

    fn apply_simple(&mut self, code: u16) {
        match code {
            0 => *self = Self::default(),
            1 => self.bold = true,
            2 => self.dim = true,
            3 => self.italic = true,
            4 | 21 => self.underline = true,
            7 => self.reversed = true,
            9 => self.struck = true,
            22 => (self.bold, self.dim) = (false, false),
            23 => self.italic = false,
            24 => self.underline = false,
            27 => self.reversed = false,
            29 => self.struck = false,
            30..=37 => self.fg = Some(SgrColour::Basic((code - 30) as u8)),
            39 => self.fg = None,
            40..=47 => self.bg = Some(SgrColour::Basic((code - 40) as u8)),
            49 => self.bg = None,
            90..=97 => self.fg = Some(SgrColour::Basic((code - 82) as u8)),
            100..=107 => self.bg = Some(SgrColour::Basic((code - 92) as u8)),
            _ => {}
        }
    }
}

fn colour<'a>(codes: &mut impl Iterator<Item = &'a str>) -> Option<SgrColour> {
    let mut byte = || codes.next()?.parse::<u8>().ok();
    match byte()? {
        5 => byte().map(SgrColour::Indexed),
        2 => Some(SgrColour::Rgb(byte()?, byte()?, byte()?)),
        _ => None,
    }
}

fn colour_of_parts<'a>(parts: impl Iterator<Item = &'a str>) -> Option<SgrColour> {
    let parts: Vec<&str> = parts.collect();
    match parts.as_slice() {
        ["2", _, r, g, b] => colour(&mut ["2", r, g, b].into_iter()),
        all => colour(&mut all.iter().copied()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read_in_all_their_forms() {
        let red = SgrStyle { fg: Some(SgrColour::Basic(1)), ..SgrStyle::default() };
        let rgb = SgrStyle { fg: Some(SgrColour::Rgb(1, 2, 3)), ..SgrStyle::default() };
        for (parameters, wanted) in [
            ("31", red),
            ("0;31", red),
            ("38;2;1;2;3", rgb),
            ("38:2::1:2:3", rgb),
            ("38:2:1:2:3", rgb),
            ("38;5;200", SgrStyle { fg: Some(SgrColour::Indexed(200)), ..SgrStyle::default() }),
            ("91;1", SgrStyle { fg: Some(SgrColour::Basic(9)), bold: true, ..SgrStyle::default() }),
            ("31;", SgrStyle::default()),
            ("38;2;999;0;0", SgrStyle::default()),
            ("8", SgrStyle::default()),
            ("4:3", SgrStyle { underline: true, ..SgrStyle::default() }),
        ] {
            let mut style = SgrStyle::default();
            style.apply(parameters);
            assert_eq!(style, wanted, "{parameters}");
        }
    }
}
