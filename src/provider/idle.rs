//! Silence limits: how long a server may send nothing at all.
//!
//! Invariant: any byte counts as life, also a comment. There is no limit on the whole reply.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt};
use tokio::time::{Instant, timeout_at};

use crate::conversation::round::{RoundError, RoundErrorKind};

/// When silence becomes a failure.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    deadline: Instant,
    /// What the deadline is measured from, for the message, in milliseconds.
    silence_ms: u64,
}

impl Limit {
    pub fn from_now(silence_ms: u64) -> Self {
        // Tokio's clock, so that a test can stop it.
        Self { deadline: Instant::now() + Duration::from_millis(silence_ms), silence_ms }
    }

    /// Returns what the future gives, or a stall.
    pub async fn on<T>(self, future: impl Future<Output = T>) -> Result<T, RoundError> {
        timeout_at(self.deadline, future).await.map_err(|_| self.stall())
    }

    fn stall(self) -> RoundError {
        let silence = match self.silence_ms {
            ms if ms % 1_000 == 0 => format!("{} s", ms / 1_000),
            ms => format!("{ms} ms"),
        };
        let message = format!("the server sent nothing for {silence}");
        RoundError::new(RoundErrorKind::Stalled, message)
    }
}

/// Ends a body with a stall when nothing comes: until `first` for the first chunk, `idle_ms` for the others.
pub fn limited<S>(
    body: S,
    first: Limit,
    idle_ms: u64,
) -> impl Stream<Item = Result<Bytes, RoundError>> + Send
where
    S: Stream<Item = Result<Bytes, RoundError>> + Send + Unpin,
{
    stream::unfold(Some((body, first)), move |state| async move {
        let (mut body, limit) = state?;
        match limit.on(body.next()).await {
            Ok(None) => None,
            Ok(Some(Ok(bytes))) => Some((Ok(bytes), Some((body, Limit::from_now(idle_ms))))),
            Ok(Some(Err(error))) | Err(error) => Some((Err(error), None)),
        }
    })
    // Who looks at the first bytes to tell what a body is meets the end of an empty one twice.
    .fuse()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::sleep;

    /// A body that sends after each of these waits, in seconds, then falls silent for ever.
    fn body(waits: &'static [u64]) -> impl Stream<Item = Result<Bytes, RoundError>> + Send + Unpin {
        let sent = stream::iter(waits).then(|wait| async move {
            sleep(Duration::from_secs(*wait)).await;
            Ok(Bytes::from_static(b":\n\n"))
        });
        Box::pin(sent.chain(stream::pending()))
    }

    // W06, W07
    #[tokio::test(start_paused = true)]
    async fn silence_beyond_the_limit_is_a_stall_and_any_byte_is_life() {
        for (waits, chunk_count, message) in [
            (&[][..], 0, "the server sent nothing for 300 s"),
            (&[299, 119, 119], 3, "the server sent nothing for 120 s"),
            (&[301], 0, "the server sent nothing for 300 s"),
            (&[1, 121], 1, "the server sent nothing for 120 s"),
        ] {
            let limited = limited(body(waits), Limit::from_now(300_000), 120_000);
            let mut read: Vec<_> = limited.collect().await;
            let error = read.pop().unwrap().unwrap_err();
            assert_eq!((read.len(), error.message.as_str()), (chunk_count, message), "{waits:?}");
            assert!(error.is_retryable());
        }
    }

    #[tokio::test]
    async fn the_end_of_an_empty_body_can_be_met_twice() {
        let limited = limited(stream::empty(), Limit::from_now(1_000), 1_000);
        tokio::pin!(limited);
        assert_eq!((limited.next().await, limited.next().await), (None, None));
    }

    // W07: twelve minutes of one chunk a second are healthy.
    #[tokio::test(start_paused = true)]
    async fn a_long_reply_has_no_limit_as_a_whole() {
        static WAITS: [u64; 720] = [1; 720];
        let limited = limited(body(&WAITS), Limit::from_now(300_000), 120_000);
        assert_eq!(limited.filter(|read| std::future::ready(read.is_ok())).count().await, 720);
    }
}
