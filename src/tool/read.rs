//! `read`: a file's text with line numbers, or an image.

mod window;

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use sha2::Sha256;
use tokio_util::sync::CancellationToken;

use self::window::Window;
use super::args::Arguments;
use super::list::{reads, size, target};
use super::open::{self, OpenError};
use super::seen;
use super::text::{self, Kind};
use super::{Access, Bench, Draft, Line, Refusal, Tool, nearby, reading};
use crate::approval::action::{Prepared, Target};
use crate::base::limits;
use crate::conversation::message::{Image, ToolUse};
use crate::conversation::tool_call::ToolOutcome;

/// Bytes of an image that providers take.
const IMAGE_BYTES_MAX: u64 = 5 * 1024 * 1024;

/// Bytes looked at to tell text from anything else.
const HEAD_BYTES: u64 = 8 * 1024;

pub(super) struct Read;

/// The lines that are wanted.
#[derive(Clone, Copy)]
struct Range {
    first: u64,
    count: u64,
}

impl Tool for Read {
    fn name(&self) -> &'static str {
        "read"
    }

    fn description(&self) -> &'static str {
        "Reads a file: each line as its number, a tab, and the text. Up to 2,000 lines or 50 KB; go on with \
         `offset`. Very long lines are cut with a mark. Images (PNG, JPEG, GIF, WebP) are shown to you. Read a file \
         before you change it."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Relative to the workspace, or absolute."},
                "offset": {"type": "integer", "minimum": 1, "description": "First line; default 1."},
                "limit": {"type": "integer", "minimum": 1, "maximum": limits::RESULT_LINES_MAX,
                    "description": "Lines; default 2000."}
            },
            "required": ["path"]
        })
    }

    fn access(&self) -> Access {
        Access::Reads
    }

    fn prepare(&self, bench: &Bench, call: &ToolUse) -> Result<Draft, Refusal> {
        let arguments = Arguments::of(self, call)?;
        arguments.text("path")?;
        range(&arguments)?;
        reads(bench, &arguments)
    }

    fn run(
        &self,
        bench: Arc<Bench>,
        prepared: Prepared,
        line: Line,
    ) -> BoxFuture<'static, ToolOutcome> {
        reading("read", line.stop, move |stop| {
            let range = range(&Arguments::of(&Read, &prepared.call)?)?;
            read(&bench, target(&prepared)?, range, stop)
        })
    }
}

fn range(arguments: &Arguments<'_>) -> Result<Range, Refusal> {
    let lines_max = limits::RESULT_LINES_MAX as u64;
    Ok(Range {
        first: arguments.count_if_any("offset", 1..=u64::MAX)?.unwrap_or(1),
        count: arguments.count_if_any("limit", 1..=u64::MAX)?.unwrap_or(lines_max).min(lines_max),
    })
}

fn read(
    bench: &Bench,
    target: &Target,
    range: Range,
    stop: &CancellationToken,
) -> Result<ToolOutcome, Refusal> {
    let shown = &target.shown;
    let mut file = open::file(&target.real).map_err(|error| match error {
        OpenError::Missing => Refusal::new(format!(
            "{shown}: there is no such file.{}",
            nearby::hint(&bench.workspace, &target.real)
        )),
        other => other.explain(shown),
    })?;
    let failed = |error: std::io::Error| Refusal::new(format!("{shown}: cannot be read: {error}"));
    let bytes = file.metadata().map_err(failed)?.len();
    let mut head = Vec::new();
    (&mut file).take(HEAD_BYTES).read_to_end(&mut head).map_err(failed)?;
    file.rewind().map_err(failed)?;
    if let Some(media_type) = image_type(&head) {
        return image(bench, shown, file, media_type);
    }
    match text::kind(&head) {
        Kind::Binary(kind) => Err(Refusal::new(format!(
            "{shown}: is {kind} of {}, not text; it was not read. Use a command that understands it.",
            size(bytes)
        ))),
        Kind::Utf16 { little_endian } => {
            let bytes = open::bytes(file).map_err(|error| error.explain(shown))?;
            let text = text::from_utf16(&bytes, little_endian);
            let mut window = Window::new(range.first, range.count);
            window.push(text.as_bytes());
            bench.seen.remember(&target.real, seen::digest(&bytes), Some(&bytes));
            window.note("it is UTF-16; it can be read here, but not changed");
            window.finish(shown)
        }
        Kind::Text => plain(bench, target, file, range, stop),
    }
}

/// Reads on to the end for the digest if the file is small, else only as far as the lines are wanted.
fn plain(
    bench: &Bench,
    target: &Target,
    mut file: File,
    range: Range,
    stop: &CancellationToken,
) -> Result<ToolOutcome, Refusal> {
    let shown = &target.shown;
    let mut window = Window::new(range.first, range.count);
    let mut hash = Sha256::default();
    let mut content = Vec::new();
    let mut total = 0_u64;
    let mut buffer = vec![0; 64 * 1024];
    let is_whole = loop {
        if stop.is_cancelled() {
            return Ok(ToolOutcome::interrupted("Stopped before its end."));
        }
        let count = file
            .read(&mut buffer)
            .map_err(|error| Refusal::new(format!("{shown}: cannot be read: {error}")))?;
        if count == 0 {
            break true;
        }
        total += count as u64;
        window.push(&buffer[..count]);
        if total <= open::FILE_BYTES_MAX {
            sha2::Digest::update(&mut hash, &buffer[..count]);
            content.extend_from_slice(&buffer[..count]);
        } else if window.is_full() {
            break false;
        }
    };
    if is_whole && total <= open::FILE_BYTES_MAX {
        bench.seen.remember(&target.real, seen::hexadecimal(hash), Some(&content));
    }
    if !is_whole {
        window.note("the file is very large; its lines were not counted");
    }
    window.finish(shown)
}

fn image_type(head: &[u8]) -> Option<&'static str> {
    use imagesize::ImageType;
    match imagesize::image_type(head).ok()? {
        ImageType::Png => Some("image/png"),
        ImageType::Jpeg => Some("image/jpeg"),
        ImageType::Gif => Some("image/gif"),
        ImageType::Webp => Some("image/webp"),
        _ => None,
    }
}

fn image(bench: &Bench, shown: &str, file: File, media_type: &str) -> Result<ToolOutcome, Refusal> {
    let bytes = open::bytes(file).map_err(|error| error.explain(shown))?;
    let length = bytes.len() as u64;
    if length > IMAGE_BYTES_MAX {
        return Err(Refusal::new(format!(
            "{shown}: is an image of {}, more than {} can be shown; make a smaller copy with a command.",
            size(length),
            size(IMAGE_BYTES_MAX)
        )));
    }
    let Some(blobs) = &bench.blobs else {
        return Err(Refusal::new(format!("{shown}: is {media_type}; images cannot be kept here.")));
    };
    blobs
        .put(&bytes)
        .map_err(|error| Refusal::new(format!("{shown}: the image cannot be kept: {error}")))?;
    let dimensions = imagesize::blob_size(&bytes)
        .map_or(String::new(), |size| format!(", {}×{}", size.width, size.height));
    let mut outcome =
        ToolOutcome::ok(format!("{shown}: {media_type}{dimensions}, {}", size(length)))
            .with_summary(format!("image{dimensions}"));
    let sha256 = seen::digest(&bytes);
    outcome.images.push(Image { sha256, media_type: media_type.to_owned(), bytes: length });
    Ok(outcome)
}
