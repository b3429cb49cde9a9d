use super::*;
use proptest::prelude::*;

fn change(old: &str, new: &str) -> Change {
    Change { old: old.to_owned(), new: new.to_owned(), all: false }
}

// X04, X05
#[test]
fn only_the_named_lines_change_byte_by_byte() {
    for (body, old, new, wanted) in [
        (&b"a\r\nb\r\nc\r\n"[..], "a\nb\n", "a\nB\n", &b"a\r\nB\r\nc\r\n"[..]),
        (b"a\r\nb\r\nc\r\n", "b\n", "b\nx\ny\n", b"a\r\nb\r\nx\r\ny\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "b\r\n", "B\n", b"a\r\nB\r\nc\r\n"),
        (b"a\r\nb", "b", "b\nc", b"a\r\nb\r\nc"),
        (b"a\nb\r\nc\nd\n", "a\nb\nc\n", "a\nb\nC\n", b"a\nb\r\nC\nd\n"),
        (b"a\nb\r\nc\nd\n", "b\n", "B\nB2\n", b"a\nB\r\nB2\r\nc\nd\n"),
        (b"a\nx\ry\nb\n", "b", "B", b"a\nx\ry\nB\n"),
        (b"a\nx\ry\nb\n", "x\ry", "z", b"a\nz\nb\n"),
        (b"a\rb\rc\r", "b\nc", "b\nn\nc", b"a\rb\rn\rc\r"),
        (b"\xef\xbb\xbfa\r\nb\r\n", "a\n", "A\n", b"\xef\xbb\xbfA\r\nb\r\n"),
        (b"a\nb", "b", "B", b"a\nB"),
        (b"\tif x {\n    y\n", "    y", "\ty", b"\tif x {\n\ty\n"),
        (b"\xe9t\xe9\nname\n\xff\n", "name", "nom", b"\xe9t\xe9\nnom\n\xff\n"),
        (b"\x83\x5c\nabc\n", "abc", "d", b"\x83\x5c\nd\n"),
        (b"a\r\nb\r\n", "a\nb\n", "", b""),
        (b"a\r\n", "a\r\n", "a\n", b"a\r\n"),
        ("漢字\n".as_bytes(), "字", "語", "漢語\n".as_bytes()),
    ] {
        let changed = apply(body, &[change(old, new)]);
        assert_eq!(changed.as_deref(), Ok(wanted), "{body:?} {old:?} {new:?}");
    }
}

#[test]
fn all_edits_apply_or_none_and_each_sees_the_one_before() {
    let changed = apply(b"a b a\n", &[change("b", "c"), change("c a", "d")]);
    assert_eq!(changed.as_deref(), Ok(&b"a d\n"[..]));
    let failed = apply(b"a b a\n", &[change("b", "c"), change("z", "d")]).unwrap_err();
    assert!(failed.starts_with("edit 2 of 2:"), "{failed}");
    let all = Change { all: true, ..change("a", "x") };
    assert_eq!(apply(b"a b a\n", &[all]).as_deref(), Ok(&b"x b x\n"[..]));
}

#[test]
fn a_failure_says_what_is_there_instead() {
    for (body, old, wanted) in [
        ("x\na\nb\na\n", "a", "2 times, at lines 2, 4"),
        ("aaa", "aa", "2 times"),
        (
            "fn a() {\n\tlet x = 1;\n}\n",
            "    let x = 1;",
            "the file's indent is 1 tabs, that of `old` is 4 spaces",
        ),
        ("fn a() {\n\tlet x = 1;\n}\n", "    let x = 1;", "     2|→let x = 1;"),
        ("one \ntwo\n", "one\ntwo", "white space at the end of a line differs"),
        ("let total = sum(a, b);\n", "let total = sum(a, c);", "Most like it, at line 1"),
        ("abc\n", "zzzzz", "nor anything like it"),
        ("abc\n", "", "`old` is empty"),
        ("abc\n", "caf\u{fffd}", "U+FFFD"),
    ] {
        let failed = apply(body.as_bytes(), &[change(old, "n")]).unwrap_err();
        assert!(failed.contains(wanted), "{old:?}: {failed}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn edits_of_lf_files_are_replacements_of_text(
        body in "[ab\n]{0,40}",
        edits in proptest::collection::vec(("[ab\n]{1,3}", "[abc\n]{0,4}", any::<bool>()), 1..4),
    ) {
        let changes: Vec<Change> = edits.into_iter().map(|(old, new, all)| Change { old, new, all }).collect();
        let mut model = Some(body.clone());
        for change in &changes {
            model = model.and_then(|text| {
                let count = (0..text.len()).filter(|at| text[*at..].starts_with(&change.old)).count();
                match (count, change.all) {
                    (0, _) => None,
                    (1, _) | (_, true) => Some(text.replace(&change.old, &change.new)),
                    _ => None,
                }
            });
        }
        prop_assert_eq!(apply(body.as_bytes(), &changes).ok(), model.map(String::into_bytes));
    }

    #[test]
    fn bytes_around_an_edit_stay_whatever_they_are(
        before in proptest::collection::vec(any::<u8>(), 0..60),
        after in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        let body = [&before[..], b"@@unique@@", &after].concat();
        let changed = apply(&body, &[change("@@unique@@", "x")]);
        prop_assert_eq!(changed, Ok([&before[..], b"x", &after].concat()));
    }

    #[test]
    fn no_bytes_and_no_edit_break_it(body in proptest::collection::vec(any::<u8>(), 0..80), old in "\\PC{0,3}|[\r\n]{1,3}", new in "\\PC{0,3}|[\r\n]{1,3}") {
        let _ = apply(&body, &[Change { old, new, all: true }]);
    }
}
