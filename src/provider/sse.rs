//! Server-sent events from bytes, the same for every split of them.
//!
//! `eventsource-stream` reads the fields; in front of it stands [`Mend`], which hands it whole events in one
//! spelling. It cuts the byte order mark, ends lines with LF, replaces invalid UTF-8 character by character,
//! ends the last event, gives an `error` event without data an empty one, and limits an event's size. The
//! crate alone panics, drops or slows down in these cases.
//!
//! Not here: what the data means; silence (`idle`, which sees comments too).

use bytes::Bytes;
use eventsource_stream::{EventStreamError, Eventsource};
use futures_util::stream::{self, Stream, StreamExt};

use crate::conversation::round::{RoundError, RoundErrorKind};

/// The largest event, in bytes: far more than any reply, small enough to keep in memory.
pub const EVENT_BYTES_MAX: usize = 16 * 1024 * 1024;

const BOM: [u8; 3] = [0xef, 0xbb, 0xbf];

/// One event with data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// `message` if the server gave none.
    pub name: String,
    pub data: String,
}

/// Returns the events of a body. What came before a transport error is given first.
pub fn events<S>(body: S) -> impl Stream<Item = Result<SseEvent, RoundError>>
where
    S: Stream<Item = Result<Bytes, RoundError>>,
{
    mended(body, EVENT_BYTES_MAX).eventsource().map(|read| match read {
        Ok(event) => Ok(SseEvent { name: event.event, data: event.data }),
        Err(EventStreamError::Transport(error)) => Err(error),
        Err(EventStreamError::Utf8(_) | EventStreamError::Parser(_)) => {
            Err(RoundError::new(RoundErrorKind::Nonsense, "the reply is not an event stream"))
        }
    })
}

fn mended<S>(body: S, event_bytes_max: usize) -> impl Stream<Item = Result<String, RoundError>>
where
    S: Stream<Item = Result<Bytes, RoundError>>,
{
    let mut mend = Mend::new(event_bytes_max);
    body.map(Some).chain(stream::once(std::future::ready(None))).flat_map(move |chunk| {
        let mut pieces: Vec<Result<String, RoundError>> = Vec::new();
        match chunk {
            Some(Ok(bytes)) => {
                let too_large = mend.feed(&bytes, &mut pieces).err();
                pieces.extend(too_large.map(Err));
            }
            Some(Err(error)) => {
                mend.finish(&mut pieces);
                pieces.push(Err(error));
            }
            None => mend.finish(&mut pieces),
        }
        stream::iter(pieces)
    })
}

/// Bytes in, whole events in one spelling out.
struct Mend {
    event_bytes_max: usize,
    /// The bytes of the line so far.
    line: Vec<u8>,
    /// The lines of the event so far, each ended by LF.
    event: String,
    is_first_line: bool,
    /// The last byte was CR: an LF after it belongs to it.
    after_cr: bool,
    is_error: bool,
    has_data: bool,
}

impl Mend {
    fn new(event_bytes_max: usize) -> Self {
        Self {
            event_bytes_max,
            line: Vec::new(),
            event: String::new(),
            is_first_line: true,
            after_cr: false,
            is_error: false,
            has_data: false,
        }
    }

    fn feed(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<Result<String, RoundError>>,
    ) -> Result<(), RoundError> {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
            if self.event.len() + self.line.len() + part.len() > self.event_bytes_max {
                let message = "one event of the reply is larger than 16 MiB";
                return Err(RoundError::new(RoundErrorKind::Nonsense, message));
            }
            self.line.extend_from_slice(part);
            if let Some(ending) = after.first() {
                self.after_cr = *ending == b'\r';
                self.end_line(out);
            }
            rest = after.get(1..).unwrap_or_default();
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<Result<String, RoundError>>) {
        if !self.line.is_empty() {
            self.end_line(out);
        }
        self.end_event(out);
    }

    fn end_line(&mut self, out: &mut Vec<Result<String, RoundError>>) {
        let bytes = std::mem::take(&mut self.line);
        let bytes = match bytes.strip_prefix(&BOM) {
            Some(rest) if self.is_first_line => rest,
            Some(_) | None => &bytes,
        };
        self.is_first_line = false;
        // Lines never end within a character, so one that is cut by a chunk is whole again here.
        let line = String::from_utf8_lossy(bytes);
        if line.is_empty() {
            self.end_event(out);
        } else if !line.starts_with(':') {
            self.is_error |= line.strip_prefix("event:").is_some_and(|name| name.trim() == "error");
            self.has_data |= line == "data" || line.starts_with("data:");
            self.event.push_str(&line);
            self.event.push('\n');
        }
    }

    fn end_event(&mut self, out: &mut Vec<Result<String, RoundError>>) {
        let is_error = std::mem::take(&mut self.is_error);
        let has_data = std::mem::take(&mut self.has_data);
        if self.event.is_empty() {
            return;
        }
        if is_error && !has_data {
            self.event.push_str("data:\n");
        }
        // The comment in front keeps a second byte order mark from being the first character.
        out.push(Ok(format!(":\n{}\n", std::mem::take(&mut self.event))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn read(chunks: &[&[u8]]) -> Vec<(String, String)> {
        let chunks: Vec<_> = chunks.iter().map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
        events(stream::iter(chunks))
            .map(|event| event.map(|event| (event.name, event.data)).unwrap())
            .collect()
            .now_or_never()
            .unwrap()
    }

    fn written(events: &[(String, String)]) -> String {
        events.iter().map(|(name, data)| format!("{name}={data}|")).collect()
    }

    // W01, W02, W03, W04, W09
    #[test]
    fn every_framing_gives_its_events_for_every_split() {
        for (body, wanted) in [
            (&b"data: a\n\ndata: b\n\n"[..], "message=a|message=b|"),
            (b"data:a\r\n\r\ndata:b\r\n\r\n", "message=a|message=b|"),
            (b"data: a\r\rdata: b\r\r", "message=a|message=b|"),
            (b"data: a\r\n\rdata: b\n\r\n", "message=a|message=b|"),
            (b"\xef\xbb\xbfdata: a\n\n", "message=a|"),
            (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n", "message=b|"),
            (b":\n\n: ping\n\ndata: a\n\n", "message=a|"),
            (b"data: a\n: between\ndata: b\n\n", "message=a\nb|"),
            (b"data: : processing\n\n", "message=: processing|"),
            (b"id: 1\nretry: 5\nfoo: x\nevent: e\ndata: a\n\n", "e=a|"),
            (b"data: last", "message=last|"),
            (b"data: last\n", "message=last|"),
            (b"data: last\r", "message=last|"),
            (b"event: error\n\n", "error=|"),
            (b"event:error\r\n", "error=|"),
            (b"event: error\ndata: why\n\n", "error=why|"),
            (b"event: ping\n\ndata: a\n\n", "message=a|"),
            (b"data:  two\n\n", "message= two|"),
            ("data: 豆腐🦀é\n\n".as_bytes(), "message=豆腐🦀é|"),
            (b"data: a\xffb\xe8\xb1\ndata: c\n\n", "message=a\u{fffd}b\u{fffd}\nc|"),
            (b"", ""),
            (b"\n\n\n", ""),
        ] {
            assert_eq!(written(&read(&[body])), wanted, "{}", body.escape_ascii());
            for cut in 0..body.len() {
                let (head, tail) = body.split_at(cut);
                assert_eq!(
                    written(&read(&[head, tail])),
                    wanted,
                    "{} at {cut}",
                    body.escape_ascii()
                );
            }
            let single: Vec<&[u8]> = body.chunks(1).collect();
            assert_eq!(written(&read(&single)), wanted, "{} bytewise", body.escape_ascii());
        }
    }

    #[test]
    fn an_event_beyond_the_limit_is_an_error_and_not_a_bigger_buffer() {
        let chunks: Vec<Result<Bytes, RoundError>> = vec![
            Ok(Bytes::from_static(b"data: 0123\n\n")),
            Ok(Bytes::from_static(b"data: 0123456789")),
        ];
        let read: Vec<_> = mended(stream::iter(chunks), 12).collect().now_or_never().unwrap();
        assert_eq!(read.len(), 2, "{read:?}");
        assert_eq!(read[1].as_ref().unwrap_err().kind, RoundErrorKind::Nonsense);
    }

    #[test]
    fn what_came_before_a_broken_connection_is_read() {
        let broken = RoundError::new(RoundErrorKind::Cut, "broken");
        let chunks = vec![Ok(Bytes::from_static(b"data: a")), Err(broken.clone())];
        let mut read: Vec<_> = events(stream::iter(chunks)).collect().now_or_never().unwrap();
        assert_eq!(read.pop(), Some(Err(broken)));
        assert_eq!(read.pop().unwrap().unwrap().data, "a");
    }
}
