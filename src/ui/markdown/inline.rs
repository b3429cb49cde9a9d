//! Text within a block: emphasis, code, links, breaks.

use pulldown_cmark::{Event, LinkType, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::Definitions;
use crate::ui::highlight::push_merged;
use crate::ui::theme::{Role, Theme};

/// Collects inline events into logical lines, parted by hard breaks.
#[derive(Debug)]
pub struct Inline<'a> {
    theme: &'a Theme,
    styles: Vec<Style>,
    links: Vec<(String, String)>,
    lines: Vec<Vec<Span<'static>>>,
}

impl<'a> Inline<'a> {
    pub fn new(theme: &'a Theme, base: Style) -> Self {
        Self { theme, styles: vec![base], links: Vec::new(), lines: vec![Vec::new()] }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn put(&mut self, text: &str, style: Style) {
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.lines.push(Vec::new());
            }
            if let Some(spans) = self.lines.last_mut().filter(|_| !line.is_empty()) {
                push_merged(spans, line, style);
            }
        }
        for (_, shown) in &mut self.links {
            shown.push_str(text);
        }
    }

    /// Takes an event of this block; events of other kinds are not its own and are ignored.
    pub fn take(&mut self, event: &Event<'_>) {
        let style = self.style();
        match event {
            Event::Text(text) | Event::InlineHtml(text) | Event::Html(text) => {
                self.put(text, style);
            }
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.put(text, style.patch(self.theme.style(Role::Code)));
            }
            // Models break lines on purpose; joining them would also move rows while a reply streams.
            Event::SoftBreak | Event::HardBreak => self.put("\n", style),
            Event::FootnoteReference(label) => self.put(&format!("[^{label}]"), style),
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(*tag),
            Event::Rule | Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        let style = self.style();
        match tag {
            Tag::Emphasis => self.styles.push(style.add_modifier(Modifier::ITALIC)),
            Tag::Strong => self.styles.push(style.add_modifier(Modifier::BOLD)),
            Tag::Strikethrough => self.styles.push(style.add_modifier(Modifier::CROSSED_OUT)),
            Tag::Link { link_type, dest_url, .. } => {
                let url = match link_type {
                    LinkType::Email => String::new(),
                    _ => dest_url.to_string(),
                };
                self.links.push((url, String::new()));
                let link = style.patch(self.theme.style(Role::Link));
                self.styles.push(link.add_modifier(Modifier::UNDERLINED));
            }
            Tag::Image { dest_url, .. } => {
                self.links.push((dest_url.to_string(), String::new()));
                self.styles.push(style.patch(self.theme.style(Role::Link)));
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.leave(),
            TagEnd::Link | TagEnd::Image => {
                self.leave();
                if let Some((url, shown)) =
                    self.links.pop().filter(|(url, shown)| !url.is_empty() && url != shown)
                {
                    let (open, close) = if shown.is_empty() { ("", "") } else { (" (", ")") };
                    let style = self.style().patch(self.theme.style(Role::Dim));
                    self.put(&[open, &url, close].concat(), style);
                }
            }
            _ => {}
        }
    }

    fn leave(&mut self) {
        if self.styles.len() > 1 {
            self.styles.pop();
        }
    }

    pub fn finish(self) -> Vec<Line<'static>> {
        self.lines.into_iter().map(Line::from).collect()
    }
}

/// Reference definitions in complete lines of a part, for links in other parts.
pub fn definitions(source: &str) -> Definitions {
    if !source.contains("]:") {
        return Definitions::new();
    }
    source.split_inclusive('\n').filter_map(definition).collect()
}

fn definition(line: &str) -> Option<(String, String)> {
    let line = line.strip_suffix('\n')?;
    let (label, rest) = line.trim_start().strip_prefix('[')?.split_once("]:")?;
    let url = rest.split_whitespace().next()?.trim_start_matches('<').trim_end_matches('>');
    (!label.is_empty() && !label.starts_with('^')).then(|| (label.to_lowercase(), url.to_owned()))
}
