//! A scripted model server for tests: HTTP/1.1 on this machine, with control over every chunk.
//!
//! It runs on a thread of its own, so that any test can use it. It checks each request as strictly as the
//! strictest provider and answers a bad one with 400; [`Server::assert_valid`] reports what it found.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::len_without_is_empty,
    reason = "only tests use it: a failure here is a failed test"
)]

mod http1;
pub mod sse;
mod valid;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use serde_json::Value;
use tokio::sync::{Notify, oneshot, watch};

#[allow(unused_imports, reason = "each test file uses a part of it")]
pub use sse::Sse;

/// A request as it was received.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// One thing that a reply does, in order.
#[derive(Debug, Clone)]
pub enum Step {
    Send(Vec<u8>),
    /// Waits until [`Gate::open`].
    Stall(Gate),
    /// Closes the connection without the end of the body.
    Drop,
}

/// Holds a reply back until the test opens it.
#[derive(Debug, Clone)]
pub struct Gate {
    is_open: Arc<watch::Sender<bool>>,
}

impl Gate {
    pub fn closed() -> Self {
        Self { is_open: Arc::new(watch::channel(false).0) }
    }
    pub fn open(&self) {
        self.is_open.send_replace(true);
    }
    async fn wait(&self) {
        let mut seen = self.is_open.subscribe();
        let _ = seen.wait_for(|is_open| *is_open).await;
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub steps: Vec<Step>,
}

impl Reply {
    /// A stream of events.
    pub fn stream(body: impl Into<Vec<u8>>) -> Self {
        Self::status(200, "text/event-stream", body)
    }

    /// Any status, content type and body.
    pub fn status(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { status, headers, steps: vec![Step::Send(body.into())] }
    }

    /// An error in OpenAI's shape.
    pub fn error(status: u16, message: &str) -> Self {
        let body = serde_json::json!({"error": {"message": message, "type": "error_of_test"}});
        Self::status(status, "application/json", body.to_string())
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends the body in two chunks, cut at byte `at`.
    #[must_use]
    pub fn split_at(self, at: usize) -> Self {
        let body = self.bytes();
        let (head, tail) = body.split_at(at.min(body.len()));
        let steps = vec![Step::Send(head.to_vec()), Step::Send(tail.to_vec())];
        Self { steps, ..self }
    }

    /// Sends each byte as a chunk of its own.
    #[must_use]
    pub fn byte_by_byte(self) -> Self {
        let steps = self.bytes().into_iter().map(|byte| Step::Send(vec![byte])).collect();
        Self { steps, ..self }
    }

    /// Sends `bytes` bytes of the body, then waits for the gate, then goes on.
    #[must_use]
    pub fn stall_after(self, bytes: usize, gate: &Gate) -> Self {
        let mut split = self.split_at(bytes);
        split.steps.insert(1, Step::Stall(gate.clone()));
        split
    }

    /// Sends `bytes` bytes of the body, then breaks the connection.
    #[must_use]
    pub fn drop_after(self, bytes: usize) -> Self {
        let mut split = self.split_at(bytes);
        split.steps[1] = Step::Drop;
        split
    }

    fn bytes(&self) -> Vec<u8> {
        let bytes = |step: &Step| match step {
            Step::Send(bytes) => bytes.clone(),
            Step::Stall(_) | Step::Drop => Vec::new(),
        };
        self.steps.iter().flat_map(bytes).collect()
    }
}

type Rule = Box<dyn FnMut(&Request) -> Option<Reply> + Send>;

/// What the server's thread and the test share.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Notified when a request has come or a client has gone.
    changed: Notify,
}

#[derive(Default)]
struct State {
    script: VecDeque<Reply>,
    rules: Vec<Rule>,
    requests: Vec<Request>,
    violations: Vec<String>,
    /// Replies that ended because their client hung up.
    hang_ups: usize,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn answer(&self, request: &Request) -> Reply {
        let mut state = self.lock();
        state.requests.push(request.clone());
        self.changed.notify_waiters();
        let is_chat = request.method == "POST" && request.path.ends_with("/chat/completions");
        if is_chat && let Err(why) = valid::chat(&request.body) {
            state.violations.push(why.clone());
            return Reply::error(400, &why);
        }
        let by_rule = state.rules.iter_mut().find_map(|rule| rule(request));
        by_rule.or_else(|| state.script.pop_front()).unwrap_or_else(|| {
            let why = format!("nothing is scripted for {} {}", request.method, request.path);
            state.violations.push(why.clone());
            Reply::error(404, &why)
        })
    }
}

/// The running server; it stops when this is dropped.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server that gives these replies in order.
    pub fn start(script: impl IntoIterator<Item = Reply>) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        shared.lock().script.extend(script);
        let (stop, stopped) = oneshot::channel();
        let served = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    () = http1::serve(listener, served) => {}
                    _ = stopped => {}
                }
            });
        });
        Self { address, shared, stop: Some(stop), thread: Some(thread) }
    }

    /// The `baseUrl` of the OpenAI kinds.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Adds a reply to the end of the script.
    pub fn then(&self, reply: Reply) {
        self.shared.lock().script.push_back(reply);
    }

    /// Adds a rule: the first that gives a reply is used before the script.
    pub fn when(&self, rule: impl FnMut(&Request) -> Option<Reply> + Send + 'static) {
        self.shared.lock().rules.push(Box::new(rule));
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.lock().requests.clone()
    }

    /// Waits until `count` requests have come.
    pub async fn wait_for_requests(&self, count: usize) {
        self.wait(|state| state.requests.len() >= count).await;
    }

    /// Waits until `count` clients have hung up in the middle of a reply.
    pub async fn wait_for_hang_ups(&self, count: usize) {
        self.wait(|state| state.hang_ups >= count).await;
    }

    async fn wait(&self, is_reached: impl Fn(&State) -> bool) {
        loop {
            let changed = self.shared.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if is_reached(&self.shared.lock()) {
                return;
            }
            changed.await;
        }
    }

    /// Fails the test if a request broke a rule or met no script.
    pub fn assert_valid(&self) {
        assert_eq!(self.shared.lock().violations, Vec::<String>::new());
    }

    /// What was wrong with requests so far.
    pub fn violations(&self) -> Vec<String> {
        self.shared.lock().violations.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
