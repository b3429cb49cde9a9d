//! Log files, if `CRYSTAL_LOG` asks for them: one a process, the oldest are removed.
#![expect(clippy::disallowed_methods, reason = "the edge writes files")]

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::environment::Environment;
use super::error::UserError;
use crate::store::disk::{Disk as _, OsDisk};
use crate::store::home::Home;

/// Log files that are kept.
const FILES_MAX: usize = 10;

/// Starts logging if it was asked for; returns where a panic is written.
pub(super) fn start(environment: &Environment, home: &Home) -> Result<PathBuf, UserError> {
    let folder = home.logs();
    let file = folder.join(format!("crystal-{}.log", std::process::id()));
    let Some(filter) = environment.log_filter() else { return Ok(file) };
    let failed = |error: std::io::Error| {
        UserError::failed(error.to_string()).at(folder.display().to_string())
    };
    OsDisk.create_dir(&folder).map_err(failed)?;
    remove_old(&folder);
    let out =
        OpenOptions::new().create(true).append(true).mode(0o600).open(&file).map_err(failed)?;
    let filter = tracing_subscriber::EnvFilter::try_new(filter)
        .map_err(|error| UserError::usage(error.to_string()).at("CRYSTAL_LOG"))?;
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(Mutex::new(out))
        .finish();
    // A second start in one process (tests) keeps the first.
    let _first = tracing::subscriber::set_global_default(subscriber);
    Ok(file)
}

fn remove_old(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut files: Vec<_> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("crystal-"))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort();
    let surplus = files.len().saturating_sub(FILES_MAX - 1);
    for (_, path) in files.into_iter().take(surplus) {
        let _gone = std::fs::remove_file(path);
    }
}
