//! Blocks of one part: parsed into a small tree, then laid out from the inside.

use pulldown_cmark::{BrokenLink, CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::inline::Inline;
use super::table::{self, Table};
use super::{Definitions, Look, append, code};
use crate::base::text::width;
use crate::ui::flow;
use crate::ui::theme::Role;

/// Nesting that is shown; what is deeper stands at this level, so that no input exhausts the stack.
const DEPTH_MAX: usize = 12;
/// Columns that text keeps beside the marks of its containers.
const TEXT_COLUMNS_MIN: usize = 6;

/// Lays out the blocks of one part.
pub fn lines(source: &str, definitions: &Definitions, look: Look<'_>) -> Vec<Line<'static>> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let resolve = |link: BrokenLink<'_>| {
        let label = link.reference.to_lowercase();
        let (_, url) = definitions.iter().find(|(name, _)| *name == label)?;
        Some((CowStr::from(url.clone()), CowStr::from("")))
    };
    let parser = Parser::new_with_broken_link_callback(source, options, Some(resolve));
    let mut reader = Reader { events: parser.collect::<Vec<_>>().into_iter(), look };
    reader.blocks(look.width, 0)
}

struct Reader<'a> {
    events: std::vec::IntoIter<Event<'a>>,
    look: Look<'a>,
}

impl Reader<'_> {
    /// Lays out blocks up to the end of the container that they are in.
    fn blocks(&mut self, width: u16, depth: usize) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        let mut ignored = 0_usize;
        let mut loose: Option<Inline<'_>> = None;
        let look = Look { width, theme: self.look.theme };
        while let Some(event) = self.events.next() {
            let starts_block = matches!(&event, Event::Start(tag) if is_block(tag))
                || matches!(event, Event::Rule);
            let ends_block = matches!(&event, Event::End(tag) if is_container_end(*tag));
            if (starts_block || ends_block)
                && let Some(inline) = loose.take()
            {
                append(&mut lines, wrapped(&inline.finish(), width));
            }
            match event {
                Event::Start(Tag::BlockQuote(_) | Tag::List(_) | Tag::Item)
                    if depth >= DEPTH_MAX =>
                {
                    ignored += 1;
                }
                Event::End(tag) if is_container_end(tag) => match ignored {
                    0 => return lines,
                    _ => ignored -= 1,
                },
                Event::Start(tag) if is_block(&tag) => {
                    let is_list = matches!(tag, Tag::List(_));
                    let block = self.block(tag, look, depth);
                    if is_list && is_tight(&lines) {
                        lines.extend(block);
                    } else {
                        append(&mut lines, block);
                    }
                }
                Event::Rule => append(&mut lines, vec![rule(look)]),
                other => {
                    let base = look.theme.style(Role::Text);
                    loose.get_or_insert_with(|| Inline::new(look.theme, base)).take(&other);
                }
            }
        }
        if let Some(inline) = loose {
            append(&mut lines, wrapped(&inline.finish(), width));
        }
        lines
    }

    fn block(&mut self, tag: Tag<'_>, look: Look<'_>, depth: usize) -> Vec<Line<'static>> {
        match tag {
            Tag::Heading { .. } => {
                let style = look.theme.style(Role::Heading).add_modifier(Modifier::BOLD);
                wrapped(&self.inline(look, style), look.width)
            }
            Tag::CodeBlock(kind) => {
                let text = self.text();
                let language = match &kind {
                    CodeBlockKind::Fenced(info) => {
                        info.split([' ', ',', '{']).next().unwrap_or_default()
                    }
                    CodeBlockKind::Indented => "",
                };
                code::lines(&text, language, look)
            }
            Tag::HtmlBlock => {
                let text = self.text();
                let style = look.theme.style(Role::Dim);
                let lines: Vec<_> = text
                    .lines()
                    .map(|line| Line::from(Span::styled(line.to_owned(), style)))
                    .collect();
                wrapped(&lines, look.width)
            }
            Tag::BlockQuote(_) => {
                let bar = Span::styled("│ ", look.theme.style(Role::Quote));
                let inner = self.blocks(inner_width(look.width, 2), depth + 1);
                prefixed(inner, &bar, &bar, look.width)
            }
            Tag::List(start) => self.list(start, look, depth),
            Tag::Table(alignments) => {
                let table = self.table(alignments, look);
                table::lines(&table, look)
            }
            _ => wrapped(&self.inline(look, look.theme.style(Role::Text)), look.width),
        }
    }

    fn list(&mut self, start: Option<u64>, look: Look<'_>, depth: usize) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        let mut number = start.unwrap_or(0);
        let columns = match start {
            None => 2,
            Some(first) => self.digits(first) + 2,
        };
        while let Some(event) = self.events.next() {
            match event {
                Event::Start(Tag::Item) => {
                    let task = match self.events.as_slice() {
                        [Event::TaskListMarker(done), ..]
                        | [Event::Start(Tag::Paragraph), Event::TaskListMarker(done), ..] => {
                            Some(*done)
                        }
                        _ => None,
                    };
                    let is_loose =
                        matches!(self.events.as_slice(), [Event::Start(Tag::Paragraph), ..]);
                    let mark = match (task, start) {
                        (Some(true), _) => "☑ ".to_owned(),
                        (Some(false), _) => "☐ ".to_owned(),
                        (None, None) => "• ".to_owned(),
                        (None, Some(_)) => format!("{:<columns$}", format!("{number}.")),
                    };
                    number = number.saturating_add(1);
                    let mark = Span::styled(mark, look.theme.style(Role::Accent));
                    let space = Span::raw(" ".repeat(width::columns(&mark.content)));
                    let inner = inner_width(look.width, width::columns(&mark.content));
                    let mut item = self.blocks(inner, depth + 1);
                    if item.is_empty() {
                        item.push(Line::default());
                    }
                    if is_loose && !lines.is_empty() {
                        lines.push(Line::default());
                    }
                    lines.extend(prefixed(item, &mark, &space, look.width));
                }
                Event::End(TagEnd::List(_)) => return lines,
                _ => {}
            }
        }
        lines
    }

    /// Digits of the last number of the list that begins here.
    fn digits(&self, first: u64) -> usize {
        let mut depth = 0_u32;
        let mut count = 0;
        for event in self.events.as_slice() {
            match event {
                Event::Start(Tag::List(_)) => depth += 1,
                Event::End(TagEnd::List(_)) if depth == 0 => break,
                Event::End(TagEnd::List(_)) => depth -= 1,
                Event::Start(Tag::Item) if depth == 0 => count += 1,
                _ => {}
            }
        }
        first.saturating_add(count).saturating_sub(1).to_string().len()
    }

    fn inline(&mut self, look: Look<'_>, style: ratatui::style::Style) -> Vec<Line<'static>> {
        let mut inline = Inline::new(look.theme, style);
        for event in self.events.by_ref() {
            match event {
                Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::TableCell) => break,
                other => inline.take(&other),
            }
        }
        inline.finish()
    }

    fn text(&mut self) -> String {
        let mut text = String::new();
        for event in self.events.by_ref() {
            match event {
                Event::End(TagEnd::CodeBlock | TagEnd::HtmlBlock) => break,
                Event::Text(part) | Event::Html(part) | Event::InlineHtml(part) => {
                    text.push_str(&part);
                }
                _ => {}
            }
        }
        text
    }

    fn table(&mut self, alignments: Vec<pulldown_cmark::Alignment>, look: Look<'_>) -> Table {
        let mut table = Table { alignments, rows: Vec::new() };
        while let Some(event) = self.events.next() {
            match event {
                Event::Start(Tag::TableHead | Tag::TableRow) => table.rows.push(Vec::new()),
                Event::Start(Tag::TableCell) => {
                    let style = match table.rows.len() {
                        1 => look.theme.style(Role::Heading).add_modifier(Modifier::BOLD),
                        _ => look.theme.style(Role::Text),
                    };
                    let spans = self
                        .inline(look, style)
                        .into_iter()
                        .flat_map(|line| line.spans)
                        .collect::<Vec<_>>();
                    if let Some(row) = table.rows.last_mut() {
                        row.push(Line::from(spans));
                    }
                }
                Event::End(TagEnd::Table) => break,
                _ => {}
            }
        }
        table
    }
}

fn is_block(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Paragraph
            | Tag::Heading { .. }
            | Tag::CodeBlock(_)
            | Tag::HtmlBlock
            | Tag::BlockQuote(_)
            | Tag::List(_)
            | Tag::Table(_)
    )
}

fn is_container_end(tag: TagEnd) -> bool {
    matches!(tag, TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item)
}

/// A list right after the text of its item stands close to it.
fn is_tight(lines: &[Line<'_>]) -> bool {
    !lines.is_empty() && lines.iter().all(|line| !line.spans.is_empty())
}

fn wrapped(lines: &[Line<'static>], width: u16) -> Vec<Line<'static>> {
    if lines.iter().all(|line| line.spans.is_empty()) {
        return Vec::new();
    }
    lines.iter().flat_map(|line| flow::wrap(line, width, 0)).collect()
}

fn inner_width(width: u16, mark_columns: usize) -> u16 {
    if has_room(width, mark_columns) { width - mark_columns as u16 } else { width }
}

fn has_room(width: u16, mark_columns: usize) -> bool {
    usize::from(width) >= mark_columns + TEXT_COLUMNS_MIN
}

fn prefixed(
    lines: Vec<Line<'static>>,
    first: &Span<'static>,
    next: &Span<'static>,
    width: u16,
) -> Vec<Line<'static>> {
    if !has_room(width, width::columns(&first.content)) {
        return lines;
    }
    let mark = |index: usize| if index == 0 { first } else { next };
    let add = |(index, mut line): (usize, Line<'static>)| {
        let mut mark = mark(index).clone();
        if line.spans.is_empty() {
            mark.content = mark.content.trim_end().to_owned().into();
        }
        if !mark.content.is_empty() {
            line.spans.insert(0, mark);
        }
        line
    };
    lines.into_iter().enumerate().map(add).collect()
}

fn rule(look: Look<'_>) -> Line<'static> {
    Line::from(Span::styled("─".repeat(usize::from(look.width)), look.theme.style(Role::Border)))
}
