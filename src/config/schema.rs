//! Every key of config.json: type, default, range.
//!
//! Invariants: `Config::default()` is what holds without a file; every key is optional; numbers are
//! checked by [`Config::check`], types by serde. Keys that are not known are reported by `parse`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::approval::policy::Policy;
use crate::conversation::gear::Gear;
use crate::conversation::mode::Mode;
use crate::conversation::model::Price;

/// The whole of config.json.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Config {
    /// The provider of a new session: a name in `providers` or a built-in one.
    pub provider: String,
    /// The model of a new session, as its provider names it.
    pub model: String,
    /// How hard the model thinks; `default` leaves it to the provider.
    pub thinking_effort: Gear,
    /// `work`, or `plan` for a session that only reads.
    pub mode: Mode,
    /// A theme's name; `auto` follows the terminal's background.
    pub theme: String,
    /// Providers by name; a built-in name changes that provider.
    pub providers: BTreeMap<String, Provider>,
    /// Share of the window at which a conversation is condensed, 0 to 1; 0 never condenses unasked.
    pub compaction_threshold: f64,
    /// Leaves old tool results out of what the model sees; absent = off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub micro_compaction: Option<MicroCompaction>,
    /// The model that writes summaries; absent = the session's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compaction_model: Option<SideModel>,
    /// The model that judges calls under the policy `model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_model: Option<SideModel>,
    /// The model that names sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title_model: Option<SideModel>,
    /// Shows the summary after `/compact`.
    pub show_compaction_summary: bool,
    /// Shows the summary after an automatic compaction.
    pub show_automatic_compaction_summary: bool,
    pub approvals: Approvals,
    pub sandbox: Sandbox,
    /// Where session files are kept.
    pub archive_location: ArchiveLocation,
    pub retry: Retry,
    /// Tool servers by name, as other tools spell them.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// How a finished turn is announced while the terminal is unfocused.
    pub notifications: Notifications,
    /// Keys of actions that differ from the built-in ones.
    pub keys: BTreeMap<String, String>,
    pub telemetry: Telemetry,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            provider: "offline".to_owned(),
            model: "demo".to_owned(),
            thinking_effort: Gear::Default,
            mode: Mode::Work,
            theme: "crystal-dark".to_owned(),
            providers: BTreeMap::new(),
            compaction_threshold: 0.8,
            micro_compaction: None,
            compaction_model: None,
            approval_model: None,
            title_model: None,
            show_compaction_summary: true,
            show_automatic_compaction_summary: false,
            approvals: Approvals::default(),
            sandbox: Sandbox::default(),
            archive_location: ArchiveLocation::default(),
            retry: Retry::default(),
            mcp_servers: BTreeMap::new(),
            notifications: Notifications::default(),
            keys: BTreeMap::new(),
            telemetry: Telemetry::default(),
        }
    }
}

/// The wire format that a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Api {
    OpenaiChat,
    OpenaiResponses,
    Anthropic,
    Gemini,
    /// In process; needs no key and no network.
    Offline,
}

impl Api {
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Offline => "offline",
        }
    }
}

/// One provider. What is absent comes from the built-in provider of that name.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Provider {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api: Option<Api>,
    /// Where the API's own path begins, such as `https://host/v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable that holds the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// The key itself; `apiKeyEnv` is safer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    /// Headers sent with every request.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<Timeouts>,
    /// Accepts plain http to another machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_insecure: Option<bool>,
    /// Models by id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, Model>,
}

impl std::fmt::Debug for Provider {
    /// Without the key and the headers' values.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Provider")
            .field("api", &self.api)
            .field("base_url", &self.base_url)
            .field("models", &self.models)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Timeouts {
    /// Milliseconds until a connection must stand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_ms: Option<u64>,
    /// Milliseconds that a stream may be silent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_ms: Option<u64>,
}

/// One model of a provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// Tokens of the whole window.
    pub context_window: u32,
    /// Tokens of the longest reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// The gears that it has; absent = it does not think.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thinking: Vec<Gear>,
    /// Thinking can be turned off.
    #[serde(default)]
    pub thinking_off_allowed: bool,
    /// Takes images.
    #[serde(default)]
    pub images: bool,
    /// US dollars for a million tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MicroCompaction {
    pub enabled: bool,
    /// Newest user turns that stay whole, at least 1.
    pub protect_turns: u32,
    /// Tokens of older results that stay.
    pub protect_tokens: u32,
    /// Tokens that must be gained for anything to change.
    pub minimum_tokens: u32,
}

impl Default for MicroCompaction {
    fn default() -> Self {
        Self { enabled: true, protect_turns: 2, protect_tokens: 40_000, minimum_tokens: 20_000 }
    }
}

/// A second model with its own client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SideModel {
    pub enabled: bool,
    pub provider: String,
    pub model: String,
    #[serde(default)]
    pub thinking_effort: Gear,
}

/// What goes without a question.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Approvals {
    pub policy: Policy,
    /// Rules such as `bash(cargo test:*)`, `edit(src/**)`, `mcp(server/tool)`.
    pub allow: Vec<String>,
    pub ask: Vec<String>,
    /// Win over `ask`, which wins over `allow`.
    pub deny: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Sandbox {
    pub enabled: bool,
    /// Commands may use the network.
    pub network: bool,
    /// Paths that commands may write, beside the workspace.
    pub writable: Vec<String>,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self { enabled: true, network: false, writable: Vec::new() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ArchiveLocation {
    #[default]
    Home,
    Workspace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Retry {
    /// Requests in all, at least 1.
    pub attempts: u32,
    pub base_delay_ms: u64,
    pub max_delay_ms: u64,
}

impl Default for Retry {
    fn default() -> Self {
        Self { attempts: 5, base_delay_ms: 500, max_delay_ms: 30_000 }
    }
}

/// A tool server: `command` or `url`.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct McpServer {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

impl std::fmt::Debug for McpServer {
    /// Without variables and headers, which may hold keys.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpServer").field("command", &self.command).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Notifications {
    Off,
    #[default]
    Bell,
    Osc9,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Telemetry {
    /// Where spans are sent; absent = nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otlp_endpoint: Option<String>,
}

impl Config {
    /// The rules of `approvals`; they were checked when the file was read.
    pub fn rules(&self) -> crate::approval::rule::Rules {
        let parse = |texts: &[String]| texts.iter().filter_map(|text| text.parse().ok()).collect();
        crate::approval::rule::Rules {
            allow: parse(&self.approvals.allow),
            ask: parse(&self.approvals.ask),
            deny: parse(&self.approvals.deny),
        }
    }

    /// Checks what types cannot say. Returns the key and what is wrong with its value.
    pub fn check(&self) -> Result<(), (String, String)> {
        let wrong = |key: &str, what: String| Err((key.to_owned(), what));
        if !(0.0..=1.0).contains(&self.compaction_threshold) {
            let got = self.compaction_threshold;
            return wrong("compactionThreshold", format!("must be from 0 to 1 (got {got})"));
        }
        if self.micro_compaction.is_some_and(|micro| micro.protect_turns == 0) {
            return wrong("microCompaction.protectTurns", "must be at least 1 (got 0)".to_owned());
        }
        if self.retry.attempts == 0 {
            return wrong("retry.attempts", "must be at least 1 (got 0)".to_owned());
        }
        if self.retry.base_delay_ms > self.retry.max_delay_ms {
            let (base, max) = (self.retry.base_delay_ms, self.retry.max_delay_ms);
            return wrong(
                "retry.baseDelayMs",
                format!("must be at most maxDelayMs, {max} (got {base})"),
            );
        }
        for (name, text) in
            [("provider", &self.provider), ("model", &self.model), ("theme", &self.theme)]
        {
            if text.trim().is_empty() {
                return wrong(name, "must not be empty".to_owned());
            }
        }
        let approvals = &self.approvals;
        for (list, rules) in
            [("allow", &approvals.allow), ("ask", &approvals.ask), ("deny", &approvals.deny)]
        {
            for (index, rule) in rules.iter().enumerate() {
                if let Err(what) = rule.parse::<crate::approval::rule::Rule>() {
                    return wrong(&format!("approvals.{list}[{index}]"), what);
                }
            }
        }
        for (name, server) in &self.mcp_servers {
            if server.command.is_some() == server.url.is_some() {
                return wrong(
                    &format!("mcpServers.{name}"),
                    "must have either command or url".to_owned(),
                );
            }
        }
        self.providers.iter().try_for_each(|(name, provider)| provider.check(name))
    }
}

impl Provider {
    fn check(&self, name: &str) -> Result<(), (String, String)> {
        let key = |rest: &str| format!("providers.{name}.{rest}");
        if name.is_empty() || name.contains('/') {
            return Err((
                format!("providers.{name}"),
                "a provider's name must not be empty or hold /".to_owned(),
            ));
        }
        if let Some(url) = &self.base_url {
            check_url(url, self.allow_insecure == Some(true))
                .map_err(|what| (key("baseUrl"), what))?;
        }
        for (id, model) in &self.models {
            if model.context_window == 0 {
                return Err((
                    key(&format!("models.{id}.contextWindow")),
                    "must be at least 1 (got 0)".to_owned(),
                ));
            }
            if model.max_tokens == Some(0) {
                return Err((
                    key(&format!("models.{id}.maxTokens")),
                    "must be at least 1 (got 0)".to_owned(),
                ));
            }
        }
        Ok(())
    }
}

/// Plain http is for this machine only (spec, providers, *Credentials*). The address is not repeated: it may
/// hold a password.
fn check_url(url: &str, is_insecure_allowed: bool) -> Result<(), String> {
    if url.strip_prefix("https://").is_some_and(|host| !host.is_empty()) {
        return Ok(());
    }
    let Some(rest) = url.strip_prefix("http://") else {
        return Err("must begin with https:// (or http:// for this machine)".to_owned());
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let name = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or(v6),
        None => host.split(':').next().unwrap_or(host),
    };
    let is_loopback = name == "localhost"
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    if is_loopback || is_insecure_allowed {
        return Ok(());
    }
    Err("plain http to another machine shows the key to the network: use https:// or set \"allowInsecure\": true".to_owned())
}

/// The JSON Schema of config.json, for editors.
pub fn json_schema() -> serde_json::Value {
    schemars::schema_for!(Config).to_value()
}
