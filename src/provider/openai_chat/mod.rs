//! OpenAI Chat Completions: `POST {baseUrl}/chat/completions`, also of every compatible server.

mod calls;
mod request;
mod stream;
mod usage;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue};

pub use self::stream::Decoder;
use super::http::{self, Address, Http, Reply};
use super::{Client, Endpoint, ImageSource, RoundStream, drive};
use crate::conversation::message::{Block, Image};
use crate::conversation::round::{RoundError, RoundErrorKind, RoundRequest};

/// A client of one endpoint.
pub struct ChatClient {
    endpoint: Arc<Endpoint>,
    address: Address,
    http: Arc<Http>,
    images: ImageSource,
}

impl fmt::Debug for ChatClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatClient").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

impl ChatClient {
    pub(super) fn new(
        endpoint: Arc<Endpoint>,
        address: Address,
        http: Arc<Http>,
        images: ImageSource,
    ) -> Self {
        Self { endpoint, address, http, images }
    }
}

impl Client for ChatClient {
    fn start(&self, request: RoundRequest) -> RoundStream {
        let redactor = self.endpoint.redactor();
        let opening = open(
            Arc::clone(&self.endpoint),
            self.address.clone(),
            Arc::clone(&self.http),
            Arc::clone(&self.images),
            request,
        );
        drive::round(opening, redactor)
    }
}

async fn open(
    endpoint: Arc<Endpoint>,
    address: Address,
    http: Arc<Http>,
    images: ImageSource,
    request: RoundRequest,
) -> Result<(Reply, Decoder), RoundError> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    if let Some(key) = http::key_header(&endpoint, "Bearer ")? {
        headers.insert(AUTHORIZATION, key);
    }
    let decoder = Decoder::new(&request);
    let pictures = read_images(&request, images).await;
    let dialect = request::Dialect::of_host(address.host());
    let body = request::body(&request, dialect, &pictures);
    let body = serde_json::to_vec(&body).map_err(|error| {
        RoundError::new(RoundErrorKind::Rejected, format!("the request cannot be written: {error}"))
    })?;
    let url = address.at("chat/completions");
    let reply = http.post(&endpoint, &address, url, headers, body).await?;
    Ok((reply, decoder))
}

/// The bytes of the images of a request, by their digest.
type Pictures = HashMap<String, Vec<u8>>;

/// Reads the images off the async threads, since their source may be a file.
async fn read_images(request: &RoundRequest, source: ImageSource) -> Pictures {
    let images: Vec<Image> =
        if request.model.images { images(request).cloned().collect() } else { Vec::new() };
    if images.is_empty() {
        return Pictures::new();
    }
    let read = move || {
        let one = |image: Image| Some((image.sha256.clone(), source(&image)?));
        images.into_iter().filter_map(one).collect()
    };
    // A source that panics costs the images, not the round.
    tokio::task::spawn_blocking(read).await.unwrap_or_default()
}

fn images(request: &RoundRequest) -> impl Iterator<Item = &Image> {
    request.messages.iter().flat_map(|message| &message.blocks).flat_map(|block| match block {
        Block::Image(image) => std::slice::from_ref(image).iter(),
        Block::ToolResult(result) => result.images.iter(),
        Block::Text { .. } | Block::ToolUse(_) | Block::Reasoning(_) => [].iter(),
    })
}
