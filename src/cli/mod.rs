//! The command line: arguments, subcommands without a screen, errors and exit codes.

pub mod args;
pub mod config;
pub mod environment;
pub mod error;
mod logs;
mod open;
mod themes;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command, ConfigAction};
use environment::Environment;
use error::UserError;

/// Runs what the command line says.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    match dispatch(cli) {
        Ok(code) => code,
        Err(error) => {
            say(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

fn dispatch(cli: Cli) -> Result<ExitCode, UserError> {
    match cli.command {
        None => open::open_workspace(&cli.workspace),
        Some(Command::Run(args)) => open::run(&args),
        Some(Command::Config(args)) => {
            let environment = Environment::read(args.config)?;
            print(config::run(args.action.unwrap_or(ConfigAction::Show), &environment)?.as_bytes())
        }
        Some(Command::Completions { shell }) => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "crystal", &mut text);
            print(&text)
        }
        Some(Command::Man) => {
            let mut text = Vec::new();
            clap_mangen::Man::new(Cli::command())
                .render(&mut text)
                .map_err(|error| UserError::failed(error.to_string()))?;
            print(&text)
        }
    }
}

/// Help and version go to stdout and are a success; everything else is bad usage.
fn refuse(error: &clap::Error) -> ExitCode {
    // A closed pipe is the reader's choice; there is nobody left to tell.
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Prints an error. Nothing is done if stderr is closed.
pub fn say(error: &UserError) {
    let _ = writeln!(io::stderr(), "{error}");
}

/// Prints one line of the program's own on stderr.
fn say_line(text: &str) {
    say(&UserError::failed(text));
}

/// Prints to stdout. A reader that has gone away (`crystal config schema | head -1`) is no error.
pub fn print(text: &[u8]) -> Result<ExitCode, UserError> {
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(UserError::failed(error.to_string()).at("stdout")),
    }
}
