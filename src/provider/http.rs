//! Requests over HTTP: the shared connections, the answer's head, and the body with its silence limits.
//!
//! Invariants: nothing is built before the first request; no total time limit; no redirect is followed, so
//! that a key goes only where it was configured to go; this machine is reached without a proxy.
#![expect(
    clippy::disallowed_methods,
    reason = "Retry-After may be a date: the edge reads the clock"
)]

use std::collections::HashMap;
use std::error::Error as _;
use std::net::IpAddr;
use std::sync::{Mutex, Once};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{StatusCode, Url};

use super::idle::{self, Limit};
use super::{Endpoint, PoolError, error, lock};
use crate::conversation::round::{RoundError, RoundErrorKind};

/// A body as it arrives.
pub type ByteStream = BoxStream<'static, Result<Bytes, RoundError>>;

/// Bytes of an error body that are read: enough for any message, whatever the server sends.
const ERROR_BODY_BYTES_MAX: usize = 64 * 1024;

/// Headers in which servers name a request, best first.
const REQUEST_ID_HEADERS: [&str; 3] = ["x-request-id", "request-id", "x-litellm-call-id"];

const USER_AGENT: &str = concat!("crystal/", env!("CARGO_PKG_VERSION"));

/// An endpoint's address, checked.
#[derive(Debug, Clone)]
pub struct Address {
    base: Url,
    is_loopback: bool,
}

impl Address {
    pub fn new(endpoint: &Endpoint) -> Result<Self, PoolError> {
        let provider = || endpoint.name.clone();
        let bad = || PoolError::BadUrl { provider: provider() };
        let base = Url::parse(endpoint.base_url.trim()).map_err(|_| bad())?;
        let host = base.host_str().unwrap_or_default();
        if host.is_empty() {
            return Err(bad());
        }
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        let is_loopback = address.map_or_else(
            |_| host == "localhost" || host.ends_with(".localhost"),
            |address| address.is_loopback(),
        );
        match base.scheme() {
            "https" => {}
            "http" if is_loopback || endpoint.allow_insecure => {}
            "http" => return Err(PoolError::Insecure { provider: provider() }),
            _ => return Err(bad()),
        }
        Ok(Self { base, is_loopback })
    }

    pub fn host(&self) -> &str {
        self.base.host_str().unwrap_or_default()
    }

    /// The address of a path below the base, whose query is kept.
    pub fn at(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        let joined = format!("{}/{path}", self.base.path().trim_end_matches('/'));
        url.set_path(&joined);
        url
    }

    /// What a message may show: no user info, no path, no query.
    fn origin(&self) -> String {
        let port = self.base.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{}{port}", self.base.scheme(), self.host())
    }
}

/// Connections, shared by all clients with the same way of connecting.
#[derive(Debug, Default)]
pub struct Http {
    clients: Mutex<HashMap<Way, reqwest::Client>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Way {
    connect_ms: u64,
    is_loopback: bool,
    /// Without TLS, on this machine: no certificate will be asked for.
    is_plain: bool,
}

/// The accepted answer to a request.
pub struct Reply {
    pub request_id: Option<String>,
    pub body: ByteStream,
}

impl Http {
    /// Sends a JSON body. An answer that is not 2xx is an error with the server's own words.
    pub async fn post(
        &self,
        endpoint: &Endpoint,
        address: &Address,
        url: Url,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Reply, RoundError> {
        let timeouts = endpoint.timeouts;
        let client = self.client(Way {
            connect_ms: timeouts.connect_ms,
            is_loopback: address.is_loopback,
            is_plain: address.is_loopback && address.base.scheme() == "http",
        })?;
        let request = client
            .post(url)
            .headers(headers)
            .headers(further_headers(endpoint)?)
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        let first = Limit::from_now(timeouts.idle_first_ms);
        let sent = first.on(request.send()).await?;
        let response = sent.map_err(|error| not_sent(&error, address, timeouts.connect_ms))?;
        let status = response.status();
        let request_id = request_id(response.headers());
        let retry_after_ms = retry_after_ms(response.headers());
        let body = response.bytes_stream().map(|read| read.map_err(|error| broken(&error)));
        let body = idle::limited(body, first, timeouts.idle_ms).boxed();
        if status.is_success() {
            return Ok(Reply { request_id, body });
        }
        let body = collect(body, ERROR_BODY_BYTES_MAX).await;
        let mut failed = error::from_body(status.as_u16(), &body);
        if status.is_redirection() {
            failed.message = redirected(status);
        }
        failed.request_id = request_id;
        failed.retry_after_ms = retry_after_ms;
        Err(failed)
    }

    fn client(&self, way: Way) -> Result<reqwest::Client, RoundError> {
        let mut clients = lock(&self.clients);
        if let Some(client) = clients.get(&way) {
            return Ok(client.clone());
        }
        let client = build(way).map_err(|error| {
            let message = format!("cannot set up https: {}", cause(&error));
            RoundError::new(RoundErrorKind::Rejected, message)
        })?;
        clients.insert(way, client.clone());
        Ok(client)
    }
}

fn build(way: Way) -> reqwest::Result<reqwest::Client> {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // Fails only if another one is installed already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let builder = || {
        let builder = reqwest::Client::builder()
            .user_agent(USER_AGENT)
            .connect_timeout(Duration::from_millis(way.connect_ms))
            .redirect(reqwest::redirect::Policy::none());
        if way.is_loopback { builder.no_proxy() } else { builder }
    };
    let with_roots = |roots: Vec<_>| {
        let roots = rustls::RootCertStore { roots };
        let mut tls =
            rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        builder().tls_backend_preconfigured(tls).build()
    };
    if way.is_plain {
        // The machine's certificates are hundreds of files, read for nothing here.
        return with_roots(Vec::new());
    }
    // Without certificates on the machine the first fails; the built-in roots still reach the providers.
    builder().build().or_else(|_| with_roots(webpki_roots::TLS_SERVER_ROOTS.to_vec()))
}

fn further_headers(endpoint: &Endpoint) -> Result<HeaderMap, RoundError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &endpoint.headers {
        let parsed = HeaderName::from_bytes(name.as_bytes());
        let (Ok(name), Ok(mut value)) = (parsed, HeaderValue::from_str(value.expose())) else {
            let message = format!(
                "provider {}: the header {name} has characters that a header cannot carry",
                endpoint.name
            );
            return Err(RoundError::new(RoundErrorKind::Rejected, message));
        };
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// The key as a header's value that is never logged.
pub fn key_header(endpoint: &Endpoint, prefix: &str) -> Result<Option<HeaderValue>, RoundError> {
    let Some(key) = &endpoint.key else {
        return Ok(None);
    };
    let mut value = HeaderValue::from_str(&format!("{prefix}{}", key.expose())).map_err(|_| {
        let message = format!(
            "provider {}: the key has characters that a header cannot carry",
            endpoint.name
        );
        RoundError::new(RoundErrorKind::Credentials, message)
    })?;
    value.set_sensitive(true);
    Ok(Some(value))
}

/// What a body begins with, whatever its content type says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyKind {
    Events,
    Json,
    Page,
}

/// Reads up to the first character that tells what a body is; nothing of it is lost.
pub async fn kind(mut body: ByteStream) -> (BodyKind, ByteStream) {
    let mut read: Vec<Result<Bytes, RoundError>> = Vec::new();
    let mut kind = BodyKind::Events;
    while let Some(chunk) = body.next().await {
        let first = chunk.as_ref().map_or(Some(b':'), |bytes| {
            bytes.iter().copied().find(|byte| !byte.is_ascii_whitespace())
        });
        read.push(chunk);
        if let Some(first) = first {
            kind = match first {
                b'{' => BodyKind::Json,
                b'<' => BodyKind::Page,
                _ => BodyKind::Events,
            };
            break;
        }
    }
    (kind, stream::iter(read).chain(body).boxed())
}

/// Reads at most `bytes_max` bytes. What came before a broken connection counts.
pub async fn collect(mut body: ByteStream, bytes_max: usize) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(Ok(bytes)) = body.next().await {
        let room = bytes_max - all.len();
        all.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if all.len() >= bytes_max {
            break;
        }
    }
    all
}

fn request_id(headers: &HeaderMap) -> Option<String> {
    let named = REQUEST_ID_HEADERS.iter().find_map(|name| headers.get(*name)?.to_str().ok());
    named.map(error::one_line).filter(|id| !id.is_empty())
}

fn retry_after_ms(headers: &HeaderMap) -> Option<u64> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| *number >= 0.0);
    if let Some(ms) = text("retry-after-ms").and_then(number) {
        return Some(ms as u64);
    }
    let after = text(RETRY_AFTER.as_str())?;
    if let Some(seconds) = number(after) {
        return Some((seconds * 1_000.0) as u64);
    }
    let date = httpdate::parse_http_date(after.trim()).ok()?;
    let wait = date.duration_since(SystemTime::now()).unwrap_or_default();
    u64::try_from(wait.as_millis()).ok()
}

fn redirected(status: StatusCode) -> String {
    format!("the server redirects (status {}): check baseUrl", status.as_u16())
}

fn not_sent(error: &reqwest::Error, address: &Address, connect_ms: u64) -> RoundError {
    let origin = address.origin();
    let (kind, message) = if error.is_connect() && error.is_timeout() {
        let message = format!("no connection to {origin} within {connect_ms} ms");
        (RoundErrorKind::Connect, message)
    } else if error.is_connect() {
        (RoundErrorKind::Connect, format!("cannot connect to {origin}: {}", cause(error)))
    } else if error.is_builder() {
        (RoundErrorKind::Rejected, format!("cannot ask {origin}: {}", cause(error)))
    } else {
        let message = format!("{origin} broke the connection before it answered: {}", cause(error));
        (RoundErrorKind::Connect, message)
    };
    RoundError::new(kind, message)
}

fn broken(error: &reqwest::Error) -> RoundError {
    let message = format!("the connection broke in the middle of the reply: {}", cause(error));
    RoundError::new(RoundErrorKind::Cut, message)
}

/// The innermost reason, which alone says something to a reader. Outer ones may show the URL.
fn cause(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    if error.source().is_none() {
        return "the request was not accepted".to_owned();
    }
    error::one_line(&inner.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trailing_slash_of_the_base_never_matters() {
        for (base, url) in [
            ("http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1/chat/completions"),
            ("http://127.0.0.1:1/v1/", "http://127.0.0.1:1/v1/chat/completions"),
            ("http://127.0.0.1:1//", "http://127.0.0.1:1/chat/completions"),
            ("https://h/v1?version=2", "https://h/v1/chat/completions?version=2"),
        ] {
            let endpoint = Endpoint { base_url: base.into(), ..Endpoint::offline() };
            assert_eq!(Address::new(&endpoint).unwrap().at("chat/completions").as_str(), url);
        }
    }

    #[test]
    fn the_wait_is_read_in_every_form() {
        let past = "Wed, 21 Oct 2015 07:28:00 GMT";
        for (name, value, ms) in [
            ("retry-after-ms", "1500", Some(1_500)),
            ("retry-after", "2", Some(2_000)),
            ("retry-after", "0.5", Some(500)),
            ("retry-after", past, Some(0)),
            ("retry-after", "soon", None),
            ("retry-after", "-1", None),
            ("other", "1", None),
        ] {
            let headers = HeaderMap::from_iter([(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )]);
            assert_eq!(retry_after_ms(&headers), ms, "{name}: {value}");
        }
        let future = SystemTime::now() + Duration::from_secs(100);
        let value = HeaderValue::from_str(&httpdate::fmt_http_date(future)).unwrap();
        let ms = retry_after_ms(&HeaderMap::from_iter([(RETRY_AFTER, value)])).unwrap();
        assert!((1..=100_000).contains(&ms), "{ms}");
    }
}
