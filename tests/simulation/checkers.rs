//! What must hold after every step, whatever happened.

use crystal::app::effect::Job;
use crystal::base::time::Moment;
use crystal::conversation::message::{Block, Role};
use crystal::session::state::SessionState;
use crystal::store::reader;
use crystal::ui;
use crystal::ui::cache::ViewCache;
use crystal::ui::theme::Theme;
use crystal::update::next_wake;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::files::same_state;
use crate::world::{World, shared, texts_waiting};

const SIZES: [(u16, u16); 6] = [(1, 1), (19, 4), (20, 5), (40, 10), (80, 24), (200, 60)];

/// Milliseconds after which no hint is left.
const HINTS_GONE_MS: u64 = 60_000;

/// Checks the state after a step.
pub fn check(world: &mut World) -> Result<(), String> {
    archive_gives_the_live_state(world)?;
    no_message_is_lost_or_doubled(world)?;
    tasks_belong_to_a_turn(world)?;
    idle_sleeps(world)?;
    // Drawing costs most of a step, so that most steps are not drawn.
    let sizes = match world.steps {
        steps if steps % 60 == 0 => SIZES.len(),
        steps if steps % 8 == 0 => 1,
        _ => 0,
    };
    let first = world.dice.index(SIZES.len());
    for offset in 0..sizes {
        draws_well(world, SIZES[(first + offset) % SIZES.len()])?;
    }
    Ok(())
}

fn archive_gives_the_live_state(world: &mut World) -> Result<(), String> {
    let live = world.app.front();
    let (id, given, is_begun) = (live.id(), live.storage.given, live.storage.is_begun);
    let is_idle = live.turn.is_idle();
    let state = live.state.clone();
    let files = world.files(id);
    if files.records.len() as u64 != given {
        return Err(format!("{given} records were counted, {} given", files.records.len()));
    }
    // Of a session that has not begun there is nothing to replay.
    if is_begun {
        same_state(&state, files.replayed(), "live", "replayed")?;
    }
    if is_idle && files.unfinished_text() > 0 {
        return Err("streamed text became no message".to_owned());
    }
    if is_idle && !state.transcript.missing_results().is_empty() {
        return Err(format!("calls without results: {:?}", state.transcript.missing_results()));
    }
    Ok(())
}

/// What the person said in a session, in order.
pub fn said(state: &SessionState) -> Vec<String> {
    let mut said = Vec::new();
    for message in state.transcript.messages().iter().filter(|m| m.role == Role::User) {
        for block in &message.content {
            if let Block::Text { text } = block {
                said.push(text.clone());
            }
        }
    }
    said
}

fn no_message_is_lost_or_doubled(world: &World) -> Result<(), String> {
    let mut found: Vec<String> = world.closed.iter().flat_map(said).collect();
    found.extend(said(&world.app.front().state));
    found.extend(texts_waiting(&world.app));
    if found == world.submitted {
        return Ok(());
    }
    Err(format!("sent were {:?}\nfound are {found:?}", world.submitted))
}

fn tasks_belong_to_a_turn(world: &World) -> Result<(), String> {
    let is_idle = world.app.front().turn.is_idle();
    if is_idle && !(world.app.tasks.is_empty() && world.jobs.is_empty()) {
        return Err(format!("idle, and tasks run: {:?} {:?}", world.app.tasks, world.jobs));
    }
    if !is_idle && world.jobs.is_empty() && world.timers.is_empty() {
        let is_asking =
            matches!(world.app.front().turn.phase(), crystal::turn::Phase::Asking { .. });
        if !is_asking {
            return Err(format!("nothing can end the turn: {:?}", world.app.front().turn));
        }
    }
    let leaked = world.jobs.iter().find(|job| world.app.tasks.owner(job.task).is_none());
    if let Some(job) = leaked {
        return Err(format!("{:?} runs and nobody waits for it", job.task));
    }
    let rounds = world.jobs.iter().filter(|job| matches!(job.job, Job::Round { .. })).count();
    if rounds > 1 { Err(format!("{rounds} rounds run")) } else { Ok(()) }
}

fn idle_sleeps(world: &World) -> Result<(), String> {
    if !world.app.front().turn.is_idle() {
        return Ok(());
    }
    let now = world.now.moment;
    let later = now.plus_ms(HINTS_GONE_MS);
    let has_hint = world.app.current_hint(now).is_some();
    match (next_wake(&world.app, now), next_wake(&world.app, later)) {
        (Some(wake), _) if !has_hint || wake <= now => Err(format!("idle, and wakes at {wake:?}")),
        (_, Some(wake)) => Err(format!("idle, and wakes at {wake:?} without a hint")),
        _ => Ok(()),
    }
}

fn draws_well(world: &mut World, (width, height): (u16, u16)) -> Result<(), String> {
    let id = world.app.front().id();
    if world.cached_session != id {
        world.cache.clear();
        world.cached_session = id;
    }
    let area = Rect::new(0, 0, width, height);
    let theme = Theme::plain();
    let now = world.now.moment;
    let warm = ui::prepare(&world.app, &mut world.cache, area, &theme);
    let first = draw(world, &warm, area, now);
    if first != draw(world, &warm, area, now) {
        return Err(format!("drawn twice it differs at {width}x{height}"));
    }
    if world.steps.is_multiple_of(40) || world.steps.is_multiple_of(100) {
        let cold = ui::prepare(&world.app, &mut ViewCache::default(), area, &theme);
        let second = draw(world, &cold, area, now);
        if first != second {
            let (warm, cold) = (rows(&first), rows(&second));
            return Err(format!("a cold cache draws otherwise:\n{cold}\nnot\n{warm}"));
        }
    }
    let bad = first.content.iter().find(|cell| cell.symbol().chars().any(char::is_control));
    if let Some(cell) = bad {
        return Err(format!("a control character on the screen: {:?}", cell.symbol()));
    }
    if let Some(scroll) = warm.scroll() {
        world.app.front_mut().scroll = scroll;
    }
    Ok(())
}

fn draw(world: &World, prepared: &ui::Prepared, area: Rect, now: Moment) -> Buffer {
    let mut buffer = Buffer::empty(area);
    let cursor = ui::draw(&world.app, prepared, &Theme::plain(), now, &mut buffer);
    assert!(cursor.is_none_or(|at| area.contains(at)), "the cursor is outside: {cursor:?}");
    buffer
}

fn rows(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width).max(1);
    let row = |cells: &[ratatui::buffer::Cell]| {
        cells.iter().map(ratatui::buffer::Cell::symbol).collect::<String>()
    };
    buffer.content.chunks(width).map(row).collect::<Vec<_>>().join("\n")
}

/// Checks what the disk holds of a session that was closed in order.
pub fn check_saved(world: &World, state: &SessionState) -> Result<(), String> {
    let disk = shared(&world.disk);
    if !state.transcript.is_worth_saving() {
        return match reader::load(&*disk, &world.home, state.id) {
            Ok(loaded) => Err(format!("an empty session was saved: {loaded:?}")),
            Err(_) => Ok(()),
        };
    }
    let loaded = reader::load(&*disk, &world.home, state.id)
        .map_err(|error| format!("a saved session cannot be read: {error}"))?;
    if !loaded.warnings.is_empty() || !loaded.repair.is_empty() {
        return Err(format!("a saved session needs help: {:?}", loaded.warnings));
    }
    same_state(&loaded.state, state, "loaded", "live")?;
    let archive = disk.read(&world.home.session(state.id).archive());
    let archive = archive.map_err(|error| format!("no archive: {error}"))?;
    let alone = crystal::session::recovery::recover(state.id, None, Some(&archive))
        .map_err(|error| format!("the archive alone cannot be read: {error}"))?;
    same_state(&alone.state, state, "the archive alone", "live")
}
