//! The process is killed, perhaps the power too; the next one opens what is there.

use std::collections::HashMap;

use crystal::base::id::MessageId;
use crystal::base::secret::Redactor;
use crystal::base::time::Timestamp;
use crystal::conversation::message::Message;
use crystal::conversation::pairing;
use crystal::conversation::round::RequestMessage;
use crystal::session::state::SessionState;
use crystal::store::mem_disk::Unsynced;
use crystal::store::reader;

use crate::checkers;
use crate::files::{Files, same_state};
use crate::request;
use crate::world::{World, fresh, shared};

/// Kills the process and goes on with its session in a new one.
pub fn kill(world: &mut World) -> Result<(), String> {
    let unsynced = world.dice.pick(&[Unsynced::Kept, Unsynced::Lost]);
    world.log.push(format!("{:>7} KILL, unsynced {unsynced:?}", world.now.moment.0));
    if world.dice.chance(50) {
        // In the middle of an operation, which may be a write.
        world.disk.heal();
        let operation = world.disk.memory.operations() + 1 + world.dice.index(4);
        world.disk.memory.crash_at(operation, world.dice.index(120));
        world.write(4);
    }
    let front = world.app.front().state.clone();
    world.disk = world.disk.reboot(unsynced);
    let mut files = std::mem::take(&mut world.files);
    let mut closed = std::mem::take(&mut world.closed);
    for state in &mut closed {
        let Some(of_session) = files.remove(&state.id) else { continue };
        let recovered = reopen(world, &of_session, unsynced)?;
        *state = recovered.unwrap_or_else(|| fresh(state));
        if let Some(reopened) = world.files.get_mut(&state.id) {
            reopened.is_closed = reopened.close_again();
        }
    }
    let of_front = files.remove(&front.id);
    let recovered = match &of_front {
        Some(of_session) => reopen(world, of_session, unsynced)?,
        None => None,
    };
    let state = recovered.unwrap_or_else(|| begin_anew(world, &front));
    world.closed = closed;
    world.submitted = world.closed.iter().chain([&state]).flat_map(checkers::said).collect();
    request::check_messages(&next_request(&state))?;
    world.restart(state);
    Ok(())
}

fn begin_anew(world: &mut World, front: &SessionState) -> SessionState {
    let id = world.app.ids.session(world.now.wall);
    let state = SessionState::new(id, front.workspace.clone(), world.now.wall);
    world.files.insert(id, Files::begin(&world.disk, &world.home, fresh(&state)));
    state
}

/// What the session would send if the person said something now.
fn next_request(state: &SessionState) -> Vec<RequestMessage> {
    let mut transcript = state.transcript.clone();
    transcript.push(Message {
        id: state.last_message_id.next(),
        parent_id: None,
        ts: Timestamp::default(),
        role: crystal::conversation::message::Role::User,
        content: vec![crystal::conversation::message::Block::text("go on")],
        interrupted: false,
    });
    pairing::request_messages(&transcript)
}

/// Opens a session as the next process does; checks that nothing acknowledged is lost.
fn reopen(
    world: &mut World,
    files: &Files,
    unsynced: Unsynced,
) -> Result<Option<SessionState>, String> {
    let durable = match unsynced {
        Unsynced::Kept => files.written,
        Unsynced::Lost => files.synced,
    };
    let must = files.replayed_until(durable);
    let disk = shared(&world.disk);
    let opened = match reader::open(&disk, &world.home, files.id, Redactor::default()) {
        Ok(opened) => opened,
        Err(_) if !must.transcript.is_worth_saving() => return Ok(None),
        Err(error) => return Err(format!("{durable} records were durable, and now: {error}")),
    };
    let state = opened.recovered.state;
    holds(&state, &must)?;
    is_a_history_of(&state, files, durable)?;
    let again = reader::load(&*disk, &world.home, files.id).map_err(|error| error.to_string())?;
    same_state(&again.state, &state, "loaded again", "recovered")?;
    world.files.insert(files.id, Files::resume(state.clone(), opened.writer, true));
    Ok(Some(state))
}

fn holds(state: &SessionState, must: &SessionState) -> Result<(), String> {
    let by_id: HashMap<MessageId, &Message> =
        state.transcript.messages().iter().map(|message| (message.id, &**message)).collect();
    for message in must.transcript.messages() {
        let found = by_id.get(&message.id);
        if found.is_none_or(|found| found.content != message.content) {
            return Err(format!("{message:?} was durable; found is {found:?}"));
        }
    }
    Ok(())
}

/// State that only events change is that of some moment after the last durable record.
fn is_a_history_of(state: &SessionState, files: &Files, durable: usize) -> Result<(), String> {
    let is_it = |count: usize| {
        let then = files.replayed_until(count);
        (then.mode, &then.todos, &then.model) == (state.mode, &state.todos, &state.model)
    };
    if (durable..=files.records.len()).any(is_it) {
        return Ok(());
    }
    Err(format!(
        "mode {}, model {:?} and todos {:?} were never so after {durable} records",
        state.mode, state.model, state.todos
    ))
}
