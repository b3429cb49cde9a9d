//! What kind of text, if any, a file's bytes are.

/// A guess from the beginning of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// UTF-8, or bytes that are mostly text; decided line by line.
    Text,
    Utf16 {
        little_endian: bool,
    },
    /// Not text: what it is, in words.
    Binary(&'static str),
}

/// `1 line`, `2 lines`.
pub(super) fn counted(count: u64, one: &str, more: &str) -> String {
    let noun = if count == 1 { one } else { more };
    format!("{count} {noun}")
}

pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// Known beginnings of files that are not text.
const MAGIC: [(&[u8], &str); 16] = [
    (b"%PDF-", "a PDF document"),
    (b"\x7fELF", "an ELF executable or object"),
    (b"PK\x03\x04", "a ZIP archive (or a document in one)"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"SQLite format 3\0", "a SQLite database"),
    (b"\0asm", "a WebAssembly module"),
    (b"\xca\xfe\xba\xbe", "a Java class or a Mach-O binary"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O binary"),
    (b"!<arch>\n", "an ar archive"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
    (b"RIFF", "RIFF media"),
];

/// Looks at the first bytes of a file.
pub(super) fn kind(head: &[u8]) -> Kind {
    if head.starts_with(b"\xff\xfe\0\0") || head.starts_with(b"\0\0\xfe\xff") {
        return Kind::Binary("UTF-32 text");
    }
    if head.starts_with(b"\xff\xfe") {
        return Kind::Utf16 { little_endian: true };
    }
    if head.starts_with(b"\xfe\xff") {
        return Kind::Utf16 { little_endian: false };
    }
    let has_nul = head.contains(&0);
    let known = MAGIC.iter().find(|(magic, _)| head.starts_with(magic));
    match known {
        // Text may well begin with letters such as `BZh` or `ID3`.
        Some((magic, name)) if has_nul || !magic.is_ascii() || magic.starts_with(b"%PDF") => {
            Kind::Binary(name)
        }
        Some(_) | None if has_nul => Kind::Binary("binary data"),
        Some(_) | None => Kind::Text,
    }
}

/// Decodes UTF-16 after its byte order mark; what cannot be decoded becomes U+FFFD.
pub(super) fn from_utf16(bytes: &[u8], little_endian: bool) -> String {
    let units = bytes.get(2..).unwrap_or_default().chunks_exact(2).map(|pair| {
        let pair = [pair[0], pair[1]];
        if little_endian { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) }
    });
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Why a file's bytes cannot be changed as text; `None` if they can.
pub(super) fn unchangeable(bytes: &[u8], shown: &str) -> Option<String> {
    match kind(&bytes[..bytes.len().min(8 * 1024)]) {
        Kind::Text => None,
        Kind::Utf16 { .. } => Some(format!(
            "{shown}: is UTF-16 text, which cannot be changed here without damage; the file is unchanged. \
             Use a command (for instance `iconv` there and back)."
        )),
        Kind::Binary(kind) => {
            Some(format!("{shown}: is {kind}, not text; the file is unchanged. Use a command."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_known_by_their_beginning() {
        for (bytes, wanted) in [
            (&b""[..], Kind::Text),
            (b"fn main() {}", Kind::Text),
            (b"\xe9t\xe9", Kind::Text),
            (b"ID3 is a tag", Kind::Text),
            (b"a\0b", Kind::Binary("binary data")),
            (b"%PDF-1.7", Kind::Binary("a PDF document")),
            (b"\xff\xfea\0", Kind::Utf16 { little_endian: true }),
            (b"\xfe\xff\0a", Kind::Utf16 { little_endian: false }),
        ] {
            assert_eq!(kind(bytes), wanted, "{bytes:?}");
        }
        assert_eq!(from_utf16(b"\xff\xfea\0\n\0", true), "a\n");
    }
}
