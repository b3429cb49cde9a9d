//! Clients of models: one folder a wire API, behind one trait.
//!
//! Invariants: a client never fails in any other way than by [`RoundEvent::Failed`]; dropping a
//! [`RoundStream`] aborts its request; no key and no user info of a URL is in any event or error; nothing is
//! built or contacted before the first request.
//!
//! Not here: when to ask again (`turn`), which provider is configured (`config`).

mod drive;
mod error;
mod http;
mod idle;
pub mod offline;
pub mod openai_chat;
mod sse;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::stream::BoxStream;

use crate::base::secret::{Redactor, Secret};
use crate::config::builtin;
use crate::conversation::message::Image;
use crate::conversation::round::{RoundEvent, RoundRequest};

/// A reply as it arrives; ends after `End` or `Failed`. Dropping it aborts the request.
pub type RoundStream = BoxStream<'static, RoundEvent>;

/// Returns the bytes of an image, if they are still stored. May read a file.
pub type ImageSource = Arc<dyn Fn(&Image) -> Option<Vec<u8>> + Send + Sync>;

/// One model of one provider.
pub trait Client: Send + Sync {
    /// Prepares one request. It is sent when the stream is first polled, which must be inside a tokio
    /// runtime with time and I/O.
    fn start(&self, request: RoundRequest) -> RoundStream;
}

/// The wire API that an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Api {
    OpenAiChat,
    OpenAiResponses,
    Anthropic,
    Gemini,
    Offline,
}

impl Api {
    /// Every API that a configuration may name.
    pub const ALL: [Self; 5] =
        [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::Gemini, Self::Offline];

    /// The APIs for which this version has a client.
    pub const SPOKEN: [Self; 2] = [Self::OpenAiChat, Self::Offline];

    /// The name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Offline => "offline",
        }
    }
}

/// Time limits of one request. None limits the whole reply: a healthy answer may take an hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    pub connect_ms: u64,
    /// Silence before the first byte of the reply.
    pub idle_first_ms: u64,
    /// Silence between two bytes of the reply.
    pub idle_ms: u64,
}

impl Default for Timeouts {
    /// The idle limits are the spec's (providers, *Streams*).
    fn default() -> Self {
        Self { connect_ms: 15_000, idle_first_ms: 300_000, idle_ms: 120_000 }
    }
}

/// Where and how a provider is reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    /// The provider's name in the configuration.
    pub name: String,
    pub api: Api,
    /// Ends where the API's path begins; a trailing slash never matters. Empty for `offline`.
    pub base_url: String,
    pub key: Option<Secret>,
    /// Further headers. Their values may be keys too, so they are secrets.
    pub headers: Vec<(String, Secret)>,
    pub timeouts: Timeouts,
    /// Plain http is accepted for other hosts than this machine.
    pub allow_insecure: bool,
}

impl Endpoint {
    /// The built-in stand-in.
    pub fn offline() -> Self {
        Self {
            name: builtin::OFFLINE.to_owned(),
            api: Api::Offline,
            base_url: String::new(),
            key: None,
            headers: Vec::new(),
            timeouts: Timeouts::default(),
            allow_insecure: false,
        }
    }

    fn redactor(&self) -> Redactor {
        let headers = self.headers.iter().map(|(_, value)| value.clone());
        Redactor::new(self.key.clone().into_iter().chain(headers))
    }
}

/// Why there is no client for a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    #[error("no provider is named {provider} (known: {known})")]
    UnknownProvider { provider: String, known: String },
    #[error(
        "provider {provider}: this version does not speak {api} yet (it speaks openai-chat and offline)"
    )]
    UnspokenApi { provider: String, api: &'static str },
    #[error("provider {provider}: baseUrl is not an http or https address")]
    BadUrl { provider: String },
    #[error(
        "provider {provider}: baseUrl is plain http to another machine, which shows the key and the code to the network; use https or set allowInsecure"
    )]
    Insecure { provider: String },
}

type Clients = HashMap<(String, String), Arc<dyn Client>>;

/// All clients, one a (provider, model), built when they are first asked for.
///
/// Changing or adding one model never replaces another's client.
pub struct Pool {
    endpoints: Mutex<HashMap<String, Arc<Endpoint>>>,
    clients: Mutex<Clients>,
    http: Arc<http::Http>,
    images: ImageSource,
    pace: offline::Pace,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("endpoints", &self.endpoints).finish_non_exhaustive()
    }
}

impl Pool {
    pub fn new(
        endpoints: impl IntoIterator<Item = Endpoint>,
        images: ImageSource,
        pace: offline::Pace,
    ) -> Self {
        let endpoints =
            endpoints.into_iter().map(|one| (one.name.clone(), Arc::new(one))).collect();
        Self {
            endpoints: Mutex::new(endpoints),
            clients: Mutex::default(),
            http: Arc::default(),
            images,
            pace,
        }
    }

    /// Adds or changes a provider; running replies keep what they began with.
    pub fn set_endpoint(&self, endpoint: Endpoint) {
        let name = endpoint.name.clone();
        lock(&self.clients).retain(|(provider, _), _| *provider != name);
        lock(&self.endpoints).insert(name, Arc::new(endpoint));
    }

    /// Returns the client of a model. Contacts nothing.
    pub fn client(&self, provider: &str, model: &str) -> Result<Arc<dyn Client>, PoolError> {
        let key = (provider.to_owned(), model.to_owned());
        if let Some(client) = lock(&self.clients).get(&key) {
            return Ok(Arc::clone(client));
        }
        let client = self.build(provider)?;
        lock(&self.clients).insert(key, Arc::clone(&client));
        Ok(client)
    }

    fn build(&self, provider: &str) -> Result<Arc<dyn Client>, PoolError> {
        let provider = provider.to_owned();
        let Some(endpoint) = lock(&self.endpoints).get(&provider).cloned() else {
            let mut known: Vec<String> = lock(&self.endpoints).keys().cloned().collect();
            known.sort();
            return Err(PoolError::UnknownProvider { provider, known: known.join(", ") });
        };
        match endpoint.api {
            Api::Offline => Ok(Arc::new(offline::Offline::new(self.pace))),
            Api::OpenAiChat => {
                let url = http::Address::new(&endpoint)?;
                let http = Arc::clone(&self.http);
                let images = Arc::clone(&self.images);
                Ok(Arc::new(openai_chat::ChatClient::new(endpoint, url, http, images)))
            }
            Api::OpenAiResponses | Api::Anthropic | Api::Gemini => {
                Err(PoolError::UnspokenApi { provider, api: endpoint.api.name() })
            }
        }
    }
}

/// A panic elsewhere leaves these maps whole: each change is one insert.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(api: Api, base_url: &str) -> Endpoint {
        Endpoint { name: "p".into(), api, base_url: base_url.into(), ..Endpoint::offline() }
    }

    fn refusal(endpoint: Endpoint) -> Option<String> {
        let pool = Pool::new([endpoint], Arc::new(|_| None), offline::Pace::NONE);
        pool.client("p", "m").err().map(|error| error.to_string())
    }

    #[test]
    fn an_api_without_a_client_is_refused_with_the_ones_that_have_one() {
        for api in [Api::OpenAiResponses, Api::Anthropic, Api::Gemini] {
            let refused = refusal(endpoint(api, "https://example.org/v1")).unwrap();
            assert!(refused.contains(api.name()), "{refused}");
            for spoken in Api::SPOKEN {
                assert!(refused.contains(spoken.name()), "{refused}");
            }
        }
    }

    // X15: the key does not travel in the clear unless the user says so.
    #[test]
    fn plain_http_is_for_this_machine_only() {
        for (url, is_accepted) in [
            ("http://127.0.0.1:8080/v1", true),
            ("http://localhost:11434/v1/", true),
            ("http://[::1]:1/v1", true),
            ("https://example.org/v1", true),
            ("http://example.org/v1", false),
            ("http://127.0.0.1.example.org/v1", false),
            ("http://localhost@example.org/v1", false),
            ("ftp://example.org", false),
            ("example.org/v1", false),
            ("", false),
        ] {
            let refused = refusal(endpoint(Api::OpenAiChat, url));
            assert_eq!(refused.is_none(), is_accepted, "{url}: {refused:?}");
        }
        let allowed =
            Endpoint { allow_insecure: true, ..endpoint(Api::OpenAiChat, "http://example.org/v1") };
        assert_eq!(refusal(allowed), None);
    }

    #[test]
    fn a_client_is_kept_for_its_model_and_built_anew_for_a_changed_provider() {
        let pool = Pool::new([Endpoint::offline()], Arc::new(|_| None), offline::Pace::NONE);
        let first = pool.client("offline", "demo").unwrap();
        assert!(Arc::ptr_eq(&first, &pool.client("offline", "demo").unwrap()));
        pool.set_endpoint(Endpoint::offline());
        assert!(!Arc::ptr_eq(&first, &pool.client("offline", "demo").unwrap()));
        let unknown = pool.client("opnai", "x").err().unwrap();
        assert_eq!(unknown.to_string(), "no provider is named opnai (known: offline)");
    }
}
