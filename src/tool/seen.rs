//! What the model knows of files: the content it read or wrote last.
//!
//! Decided by content, never by time: a `touch` changes nothing, a change within the same second does (X07).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

/// Bytes of contents kept to show what changed since; the oldest are dropped first.
const CONTENTS_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Bytes of one content that are worth keeping.
const CONTENT_BYTES_MAX: usize = 512 * 1024;

#[derive(Default)]
pub(super) struct Seen {
    files: Mutex<Files>,
}

#[derive(Default)]
struct Files {
    known: HashMap<PathBuf, Known>,
    contents_bytes: usize,
    last_use: u64,
}

#[derive(Clone)]
struct Known {
    digest: String,
    content: Option<Arc<[u8]>>,
    used: u64,
}

/// How what is on disk compares with what the model knows.
pub(super) enum Knowledge {
    Current,
    /// Another content was seen; it is given if it was kept.
    Outdated(Option<Arc<[u8]>>),
    Never,
}

impl Seen {
    pub(super) fn compare(&self, real: &Path, digest: &str) -> Knowledge {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        match files.known.get(real) {
            None => Knowledge::Never,
            Some(known) if known.digest == digest => Knowledge::Current,
            Some(known) => Knowledge::Outdated(known.content.clone()),
        }
    }

    /// Remembers a content that the model has seen or made.
    pub(super) fn remember(&self, real: &Path, digest: String, content: Option<&[u8]>) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.last_use += 1;
        let content = content.filter(|bytes| bytes.len() <= CONTENT_BYTES_MAX).map(Arc::from);
        let known = Known { digest, content, used: files.last_use };
        files.contents_bytes += known.bytes();
        if let Some(before) = files.known.insert(real.to_path_buf(), known) {
            files.contents_bytes -= before.bytes();
        }
        files.shrink();
    }
}

impl Known {
    fn bytes(&self) -> usize {
        self.content.as_ref().map_or(0, |content| content.len())
    }
}

impl Files {
    fn shrink(&mut self) {
        while self.contents_bytes > CONTENTS_BYTES_MAX {
            let kept = self.known.values_mut().filter(|known| known.content.is_some());
            let Some(oldest) = kept.min_by_key(|known| known.used) else { return };
            self.contents_bytes -= oldest.bytes();
            oldest.content = None;
        }
    }
}

/// Lower-case hexadecimal SHA-256.
pub(super) fn digest(bytes: &[u8]) -> String {
    hexadecimal(Sha256::new_with_prefix(bytes))
}

pub(super) fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
