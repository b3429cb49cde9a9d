//! The process's surroundings, read once: variables, the home, the configuration.

#![expect(clippy::disallowed_methods, reason = "the edge reads the environment and the files")]

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::args::CommonArgs;
use super::error::UserError;
use crate::config::layer::{self, Layered, Layers, Source};

/// Variables and places as they were when the process began.
#[derive(Clone)]
pub struct Environment {
    variables: HashMap<String, String>,
    /// `$CRYSTAL_HOME`, or `~/.crystal`.
    pub home: PathBuf,
    /// The file of `--config`, instead of the home's.
    config: Option<PathBuf>,
}

impl std::fmt::Debug for Environment {
    /// Without the variables, which hold keys.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("home", &self.home).finish_non_exhaustive()
    }
}

/// A configuration that was read.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub layered: Layered,
    /// Whether there was a file.
    pub exists: bool,
}

impl Environment {
    /// Reads the process's environment.
    pub fn read(config: Option<PathBuf>) -> Result<Self, UserError> {
        let text = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let variables: HashMap<String, String> = std::env::vars_os().filter_map(text).collect();
        let home = match variables.get("CRYSTAL_HOME").filter(|home| !home.is_empty()) {
            Some(home) => std::path::absolute(home)
                .map_err(|error| UserError::usage(error.to_string()).at("CRYSTAL_HOME"))?,
            None => dirs::home_dir().map(|home| home.join(".crystal")).ok_or_else(|| {
                UserError::usage("no home folder was found").hint("Set CRYSTAL_HOME to a folder.")
            })?,
        };
        Ok(Self { variables, home, config })
    }

    /// A variable's value, if it is set and not empty.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).filter(|value| !value.is_empty()).cloned()
    }

    /// `VISUAL`, else `EDITOR`.
    pub fn editor(&self) -> Option<String> {
        self.variable("VISUAL").or_else(|| self.variable("EDITOR"))
    }

    /// The filter of the log files.
    pub fn log_filter(&self) -> Option<String> {
        self.variable("CRYSTAL_LOG")
    }

    pub fn config_path(&self) -> PathBuf {
        self.config.clone().unwrap_or_else(|| self.home.join("config.json"))
    }

    /// The folder to work in, with links followed.
    pub fn workspace(&self, args: &CommonArgs) -> Result<PathBuf, UserError> {
        let folder = match &args.workspace {
            Some(folder) => folder.clone(),
            None => std::env::current_dir().map_err(|error| {
                UserError::usage(format!("the current folder cannot be read: {error}"))
            })?,
        };
        let place = folder.display().to_string();
        let real = folder.canonicalize().map_err(|error| {
            UserError::usage(say_io(&error)).at(place.clone()).hint("Name a folder that exists.")
        })?;
        if real.is_dir() { Ok(real) } else { Err(UserError::usage("is not a folder").at(place)) }
    }

    /// Reads the configuration: the file, a trusted workspace's file, flags.
    ///
    /// `trusted` is the workspace if the person trusts it; else nothing in it is read (case X13).
    pub fn load(&self, args: &CommonArgs, trusted: Option<&Path>) -> Result<Loaded, UserError> {
        let path = self.config_path();
        let home = read_optional(&path)?;
        if home.is_none() && self.config.is_some() {
            return Err(UserError::usage("does not exist").at(path.display().to_string()));
        }
        let workspace = match trusted {
            Some(folder) => read_optional(&folder.join(".crystal").join("config.json"))?,
            None => None,
        };
        let exists = home.is_some();
        let layers = Layers { home: home.unwrap_or_default(), workspace, flags: args.overlay()? };
        let mut layered = layer::combine(&layers).map_err(|(source, error)| {
            let message = error.to_string();
            match source {
                Source::Workspace => UserError::usage(format!(".crystal/{message}")),
                Source::Default | Source::Home | Source::Flag => UserError::usage(message),
            }
        })?;
        layered.config.compaction_model = args.compaction.apply(&layered.config)?;
        Ok(Loaded { layered, exists })
    }
}

fn read_optional(path: &Path) -> Result<Option<String>, UserError> {
    let place = || path.display().to_string();
    match std::fs::read(path) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                Err(UserError::usage(format!("byte {at} is not UTF-8")).at(place()))
            }
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(UserError::usage(say_io(&error)).at(place())),
    }
}

fn say_io(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "may not be read".to_owned(),
        _ => error.to_string(),
    }
}
