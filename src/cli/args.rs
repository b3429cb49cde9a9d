//! Arguments and flags. Flags hold for one process and are never written.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::error::UserError;
use crate::approval::policy::Policy;
use crate::config::resolve::parse_model;
use crate::config::schema::{Config, SideModel};
use crate::conversation::gear::Gear;
use crate::conversation::mode::Mode;

const AFTER_HELP: &str = "\
Examples:
  crystal                              open the workspace in this folder
  crystal \"explain this project\"       open it and ask at once
  crystal -c                           go on with the last conversation here
  crystal run \"list the TODOs\"         one answer, without the full screen
  git diff | crystal run \"review this\" the same, with standard input

Without a model connected, crystal answers from `offline`, a small stand-in that needs no key.
Settings: ~/.crystal/config.json (`crystal config path`); see `crystal config show`.";

/// A terminal workspace for working on code with a language model.
#[derive(Debug, Clone, Parser)]
#[command(
    name = "crystal",
    version,
    about,
    after_help = AFTER_HELP,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub workspace: WorkspaceArgs,
}

#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Send one message and print the answer, without the full screen
    Run(RunArgs),
    /// Show, check and explain the settings
    Config(ConfigArgs),
    /// Print completions for a shell
    Completions {
        /// The shell to complete in
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

/// What the full screen takes.
#[derive(Debug, Clone, Default, Args)]
pub struct WorkspaceArgs {
    /// A first message, sent at once
    pub prompt: Option<String>,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// What every front end takes.
#[derive(Debug, Clone, Default, Args)]
pub struct CommonArgs {
    /// Work in this folder instead of the current one
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Go on with the newest session of this folder
    #[arg(short = 'c', long = "continue", conflicts_with = "resume")]
    pub continue_last: bool,
    /// Go on with a session by its id
    #[arg(short, long, value_name = "ID", num_args = 0..=1)]
    pub resume: Option<Option<String>>,
    /// The model that answers, such as ollama/qwen3:8b
    #[arg(long, value_name = "PROVIDER/MODEL")]
    pub model: Option<String>,
    /// How hard it thinks: default, off, minimal, low, medium, high, xhigh or max
    #[arg(long, value_name = "GEAR")]
    pub thinking: Option<Gear>,
    /// plan only reads and ends in a plan; work may change files
    #[arg(long, value_name = "plan|work")]
    pub mode: Option<Mode>,
    /// What goes without a question: read-only, ask, auto-edit, auto, model or full
    #[arg(long, value_name = "POLICY")]
    pub approvals: Option<Policy>,
    /// The theme's name
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,
    /// Read this file instead of ~/.crystal/config.json
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub compaction: CompactionArgs,
}

/// The model that condenses long conversations, for this process.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Compaction (for this process only)")]
pub struct CompactionArgs {
    /// Write summaries with the compaction model, or with the session's own
    #[arg(long, value_name = "on|off")]
    pub compaction_model: Option<Switch>,
    /// The compaction model's provider
    #[arg(long, value_name = "PROVIDER")]
    pub compaction_provider: Option<String>,
    /// The compaction model's id
    #[arg(long, value_name = "MODEL")]
    pub compaction_model_id: Option<String>,
    /// How hard the compaction model thinks
    #[arg(long, value_name = "GEAR")]
    pub compaction_thinking: Option<Gear>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

/// What `crystal run` takes.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// The message; standard input is added after it
    pub prompt: Option<String>,
    #[command(flatten)]
    pub common: CommonArgs,
    /// text: the answer; json: one object at the end; stream-json: one event a line
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Text)]
    pub output_format: OutputFormat,
    /// Stop after this many requests to the model
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_rounds: Option<u32>,
    /// Read this folder's .crystal/ and instructions files although it is not trusted yet
    #[arg(long)]
    pub trust: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum OutputFormat {
    #[default]
    Text,
    Json,
    StreamJson,
}

#[derive(Debug, Clone, Args)]
pub struct ConfigArgs {
    #[command(subcommand)]
    pub action: Option<ConfigAction>,
    /// Read this file instead of ~/.crystal/config.json
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub enum ConfigAction {
    /// Print where config.json is
    Path,
    /// Print every setting with where it came from (this is the default)
    Show,
    /// Check config.json and say what is wrong
    Check,
    /// Print the JSON Schema of config.json, for editors
    Schema,
}

impl CommonArgs {
    /// The flags as values of the configuration: its top layer.
    pub fn overlay(&self) -> Result<serde_json::Map<String, serde_json::Value>, UserError> {
        let mut flags = serde_json::Map::new();
        let mut put = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                flags.insert(key.to_owned(), value.into());
            }
        };
        if let Some(text) = &self.model {
            let (provider, model) = parse_model(text)
                .map_err(|error| UserError::usage(error.to_string()).at("--model"))?;
            put("provider", Some(provider));
            put("model", Some(model));
        }
        put("thinkingEffort", self.thinking.map(|gear| gear.to_string()));
        put("mode", self.mode.map(|mode| mode.to_string()));
        put("theme", self.theme.clone());
        if let Some(policy) = self.approvals {
            let policy = serde_json::json!({ "policy": policy.name() });
            flags.insert("approvals".to_owned(), policy);
        }
        Ok(flags)
    }
}

impl CompactionArgs {
    /// The compaction model of this process: the saved choice with the flags over it.
    pub fn apply(&self, config: &Config) -> Result<Option<SideModel>, UserError> {
        let saved = config.compaction_model.clone();
        let chosen = (self.compaction_provider.clone(), self.compaction_model_id.clone());
        let base = match (saved, chosen) {
            (saved, (None, None)) => saved,
            (Some(saved), (provider, model)) => Some(SideModel {
                provider: provider.unwrap_or(saved.provider),
                model: model.unwrap_or(saved.model),
                ..saved
            }),
            (None, (Some(provider), Some(model))) => {
                Some(SideModel { enabled: false, provider, model, thinking_effort: Gear::Default })
            }
            (None, (Some(_), None)) => return Err(incomplete("--compaction-model-id")),
            (None, (None, Some(_))) => return Err(incomplete("--compaction-provider")),
        };
        let Some(mut side) = base else {
            return match (self.compaction_model, self.compaction_thinking) {
                (Some(Switch::On), _) | (None, Some(_)) => {
                    Err(UserError::usage("no compaction model is chosen")
                        .hint("Add --compaction-provider P --compaction-model-id M."))
                }
                (Some(Switch::Off) | None, _) => Ok(None),
            };
        };
        if let Some(switch) = self.compaction_model {
            side.enabled = switch == Switch::On;
        }
        if let Some(gear) = self.compaction_thinking {
            side.thinking_effort = gear;
        }
        Ok(Some(side))
    }
}

fn incomplete(missing: &str) -> UserError {
    UserError::usage("a compaction model needs a provider and a model id")
        .hint(format!("Add {missing}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(line.split(' '))
    }

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_line_is_read() {
        let cli = parse("crystal -c --mode plan --approvals auto-edit hello").unwrap();
        assert!(cli.command.is_none() && cli.workspace.common.continue_last);
        assert_eq!(cli.workspace.prompt.as_deref(), Some("hello"));
        assert_eq!(cli.workspace.common.mode, Some(Mode::Plan));
        for (line, resume) in [
            ("crystal -r", Some(None)),
            ("crystal -r x", Some(Some("x".to_owned()))),
            ("crystal", None),
        ] {
            assert_eq!(parse(line).unwrap().workspace.common.resume, resume, "{line}");
        }
        let Some(Command::Run(run)) =
            parse("crystal run --output-format stream-json --max-rounds 3 --trust hi")
                .unwrap()
                .command
        else {
            panic!("run")
        };
        assert_eq!(
            (run.output_format, run.max_rounds, run.trust),
            (OutputFormat::StreamJson, Some(3), true)
        );
    }

    #[test]
    fn wrong_values_are_refused() {
        for line in [
            "crystal --mode look",
            "crystal --thinking hard",
            "crystal --approvals yolo",
            "crystal -c -r",
            "crystal run --max-rounds 0",
            "crystal run --output-format xml",
            "crystal --nope",
            "crystal --compaction-model maybe",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn the_compaction_flags_need_a_choice() {
        let saved = SideModel {
            enabled: false,
            provider: "p".into(),
            model: "m".into(),
            thinking_effort: Gear::Low,
        };
        let with = Config { compaction_model: Some(saved.clone()), ..Config::default() };
        let without = Config::default();
        let on = |provider: &str, model: &str, gear| {
            Ok(Some(SideModel {
                enabled: true,
                provider: provider.into(),
                model: model.into(),
                thinking_effort: gear,
            }))
        };
        for (line, config, expected) in [
            ("", &without, Ok(None)),
            ("--compaction-model off", &without, Ok(None)),
            ("--compaction-model on", &without, Err(2)),
            ("--compaction-model on --compaction-provider a", &without, Err(2)),
            ("--compaction-model on --compaction-model-id b", &without, Err(2)),
            (
                "--compaction-model on --compaction-provider a --compaction-model-id b",
                &without,
                on("a", "b", Gear::Default),
            ),
            ("--compaction-model on", &with, on("p", "m", Gear::Low)),
            ("--compaction-model on --compaction-model-id b", &with, on("p", "b", Gear::Low)),
            ("--compaction-model on --compaction-thinking max", &with, on("p", "m", Gear::Max)),
            ("", &with, Ok(Some(saved.clone()))),
        ] {
            let line = format!("crystal {line}");
            let args = parse(line.trim()).unwrap().workspace.common.compaction;
            assert_eq!(args.apply(config).map_err(|e| e.exit_code()), expected, "{line}");
        }
    }
}
