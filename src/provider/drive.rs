//! From an accepted answer to round events, the same way for every API that streams over HTTP.
//!
//! Invariants: exactly one `End` or `Failed`, and it is the last; a reply that was complete stays complete
//! when the connection breaks after it; every failure passes [`scrub`].

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::stream::{self, BoxStream, StreamExt};
use serde_json::Value;
use tokio::time::timeout;

use super::http::{self, BodyKind, ByteStream, Reply};
use super::{RoundStream, error, sse};
use crate::base::secret::Redactor;
use crate::conversation::round::{RoundError, RoundErrorKind, RoundEvent};

/// The largest reply that is not a stream, in bytes.
const WHOLE_BYTES_MAX: usize = sse::EVENT_BYTES_MAX;

/// How long a server may keep a complete reply open, in which its usage may still come.
const LATE_USAGE_MS: u64 = 5_000;

/// The words of one API.
pub trait Decode: Send + 'static {
    /// Takes the data of one event.
    fn feed(&mut self, data: &str) -> Vec<RoundEvent>;
    /// Takes a reply that is not a stream; `None` if it is not one of this API.
    fn whole(&mut self, reply: &Value) -> Option<Vec<RoundEvent>>;
    /// Ends the reply: because of `why`, or because the body is at its end.
    fn finish(&mut self, why: Option<RoundError>) -> Vec<RoundEvent>;
    /// The reply is complete, but usage may follow.
    fn is_complete(&self) -> bool;
    /// `End` or `Failed` was given.
    fn is_over(&self) -> bool;
}

/// Returns the stream of a request that is being sent, with all failures scrubbed.
pub fn round<D: Decode>(
    opening: impl Future<Output = Result<(Reply, D), RoundError>> + Send + 'static,
    redactor: Redactor,
) -> RoundStream {
    let opened = async move {
        match opening.await {
            Err(error) => stream::iter([RoundEvent::Failed(error)]).boxed(),
            Ok((reply, decoder)) => read(reply, decoder),
        }
    };
    stream::once(opened).flatten().map(move |event| scrub(event, &redactor)).boxed()
}

fn read<D: Decode>(reply: Reply, decoder: D) -> RoundStream {
    let request_id = reply.request_id;
    let body = stream::once(events_of(reply.body, decoder)).flatten();
    let named = body.map(move |event| match event {
        RoundEvent::Failed(mut error) => {
            error.request_id = error.request_id.or_else(|| request_id.clone());
            RoundEvent::Failed(error)
        }
        other => other,
    });
    stream::iter([RoundEvent::Accepted]).chain(named).boxed()
}

async fn events_of<D: Decode>(body: ByteStream, mut decoder: D) -> RoundStream {
    let (kind, body) = http::kind(body).await;
    let events = match kind {
        BodyKind::Events => return stream_events(body, decoder),
        BodyKind::Json => {
            let bytes = http::collect(body, WHOLE_BYTES_MAX).await;
            let reply: Result<Value, _> = serde_json::from_slice(&bytes);
            let cut = || RoundError::new(RoundErrorKind::Cut, "the reply is cut in the middle");
            match reply {
                Err(_) => decoder.finish(Some(cut())),
                Ok(reply) if error::is_error(&reply) => {
                    decoder.finish(Some(error::from_event(&reply.to_string())))
                }
                Ok(reply) => decoder.whole(&reply).unwrap_or_else(|| {
                    let message = "the server's answer is JSON, but not a reply of this API";
                    vec![RoundEvent::Failed(RoundError::new(RoundErrorKind::Nonsense, message))]
                }),
            }
        }
        BodyKind::Page => {
            let page = http::collect(body, WHOLE_BYTES_MAX.min(64 * 1024)).await;
            let line = error::html_line(&String::from_utf8_lossy(&page));
            let message = format!("the server answered with a web page ({line}): check baseUrl");
            decoder.finish(Some(RoundError::new(RoundErrorKind::Nonsense, message)))
        }
    };
    stream::iter(events).boxed()
}

struct Reading<D> {
    events: BoxStream<'static, Result<sse::SseEvent, RoundError>>,
    decoder: D,
    ready: VecDeque<RoundEvent>,
}

fn stream_events<D: Decode>(body: ByteStream, decoder: D) -> RoundStream {
    let events = sse::events(body).boxed();
    let reading = Reading { events, decoder, ready: VecDeque::new() };
    stream::unfold(reading, |mut reading| async move {
        loop {
            if let Some(event) = reading.ready.pop_front() {
                return Some((event, reading));
            }
            if reading.decoder.is_over() {
                return None;
            }
            let next = reading.next().await;
            reading.ready.extend(next);
        }
    })
    .boxed()
}

impl<D: Decode> Reading<D> {
    async fn next(&mut self) -> Vec<RoundEvent> {
        let next = self.events.next();
        let next = if self.decoder.is_complete() {
            timeout(Duration::from_millis(LATE_USAGE_MS), next).await.unwrap_or(None)
        } else {
            next.await
        };
        match next {
            Some(Ok(event)) if event.name == "error" => {
                self.decoder.finish(Some(error::from_event(&event.data)))
            }
            Some(Ok(event)) => self.decoder.feed(&event.data),
            Some(Err(error)) => self.decoder.finish(Some(error)),
            None => self.decoder.finish(None),
        }
    }
}

/// Removes the endpoint's secrets from a failure: the one place for it (X15).
fn scrub(event: RoundEvent, redactor: &Redactor) -> RoundEvent {
    match event {
        RoundEvent::Failed(mut error) => {
            error.message = error::shorten(redactor.redact(error.message));
            error.request_id = error.request_id.map(|id| redactor.redact(id));
            RoundEvent::Failed(error)
        }
        other => other,
    }
}
