//! Turns as scripts: events in, effects out. No IO, no async.

use serde_json::json;

use super::backoff::RetryPolicy;
use super::effect::{CallSight, Ended, PartialKind, Sight, Span, TurnEffect};
use super::event::{Answer, Attended, Context, TurnEvent};
use super::machine::{Phase, Turn};
use crate::approval::action::{Action, Prepared, Preview};
use crate::approval::decision::Verdict;
use crate::base::id::CallId;
use crate::base::time::{At, Moment};
use crate::conversation::message::{Block, ToolUse};
use crate::conversation::round::{RoundError, RoundErrorKind, RoundEvent, StopReason};
use crate::conversation::tool_call::{ToolEvent, ToolOutcome};

/// Drives a machine and writes its effects as short words.
struct Script {
    turn: Turn,
    now: u64,
    verdict: Verdict,
    attended: Attended,
    rounds_max: u32,
    said_calls: Vec<CallId>,
}

impl Script {
    fn new() -> Self {
        Self {
            turn: Turn::default(),
            now: 0,
            verdict: Verdict::Allow,
            attended: Attended::ByPerson,
            rounds_max: 10,
            said_calls: Vec::new(),
        }
    }

    fn asking() -> Self {
        let verdict = Verdict::Ask { why: "it writes".into(), always: None, warning: None };
        Self { verdict, ..Self::new() }
    }

    fn on(&mut self, event: TurnEvent) -> String {
        let verdict = self.verdict.clone();
        let said = self.said_calls.clone();
        let context = Context {
            at: At { moment: Moment(self.now), ..At::default() },
            judge: &|_| verdict.clone(),
            is_taken: &|id| said.contains(id),
            attended: self.attended,
            retry: RetryPolicy { attempts: 3, base_delay_ms: 100, delay_max_ms: 1_000 },
            rounds_max: self.rounds_max,
            random: 50,
        };
        let effects = self.turn.on(event, &context);
        for effect in &effects {
            if let TurnEffect::Say(draft) = effect
                && let Block::ToolUse(call) = &draft.block
            {
                self.said_calls.push(call.id.clone());
            }
        }
        effects.iter().filter_map(word).collect::<Vec<_>>().join(" ")
    }

    fn submit(&mut self, text: &str) -> String {
        self.on(TurnEvent::Submit(vec![Block::text(text)]))
    }
    fn text(&mut self, delta: &str) -> String {
        self.on(TurnEvent::Round(RoundEvent::Text(delta.into())))
    }
    fn end(&mut self, stop: StopReason) -> String {
        self.on(TurnEvent::Round(RoundEvent::End { stop, usage: None }))
    }
    fn fail(&mut self, kind: RoundErrorKind) -> String {
        self.on(TurnEvent::Round(RoundEvent::Failed(RoundError::new(kind, "broken"))))
    }
    fn call(&mut self, id: &str) -> String {
        let input = json!({});
        let call = ToolUse { id: CallId::new(id), name: "t".into(), input };
        self.on(TurnEvent::Round(RoundEvent::Call(call)))
    }
    /// The tool layer has looked at a call. Names that begin with `r` only read.
    fn prepared(&mut self, id: &str) -> String {
        let prepared = Prepared {
            call: ToolUse { id: CallId::new(id), name: "t".into(), input: json!({}) },
            action: Action::Session,
            preview: Preview::Command(String::new()),
            guard: None,
            is_independent: id.starts_with('r'),
        };
        self.on(TurnEvent::Prepared(CallId::new(id), Ok(Box::new(prepared))))
    }
    fn done(&mut self, id: &str) -> String {
        let event = ToolEvent::Done(ToolOutcome::ok(format!("result of {id}")));
        self.on(TurnEvent::Tool(CallId::new(id), event))
    }
    fn stopped(&mut self, id: &str) -> String {
        let event = ToolEvent::Done(ToolOutcome::interrupted("half"));
        self.on(TurnEvent::Tool(CallId::new(id), event))
    }
    /// A turn in which the model made these calls, all looked at.
    fn with_calls(mut self, ids: &[&str]) -> Self {
        self.submit("go");
        for id in ids {
            self.call(id);
        }
        self.end(StopReason::ToolUse);
        self
    }
}

/// The effects that matter to a turn's course; observations and most sights are checked on their own.
fn word(effect: &TurnEffect) -> Option<String> {
    Some(match effect {
        TurnEffect::Say(draft) => {
            let mark = if draft.interrupted { "!" } else { "" };
            match &draft.block {
                Block::Text { text } => format!("say{mark}({text})"),
                Block::Reasoning(reasoning) => format!("think{mark}({})", reasoning.text),
                Block::ToolUse(call) => format!("call({})", call.id),
                Block::ToolResult(result) => {
                    let failed = if result.is_error { "✗" } else { "" };
                    format!("result{failed}{mark}({})", result.tool_use_id)
                }
                Block::Image(_) => "image".into(),
            }
        }
        TurnEffect::Partial { kind: PartialKind::Text, text } => format!("partial({text})"),
        TurnEffect::Partial { kind: PartialKind::Reasoning, text } => format!("partial?({text})"),
        TurnEffect::StartRound => "round".into(),
        TurnEffect::StopRound => "stop-round".into(),
        TurnEffect::Prepare(call) => format!("prepare({})", call.id),
        TurnEffect::Run(prepared) => format!("run({})", prepared.call.id),
        TurnEffect::StopCall(call) => format!("stop({call})"),
        TurnEffect::Ask(question) => format!("ask({})", question.prepared.call.id),
        TurnEffect::Unask(call) => format!("unask({call})"),
        TurnEffect::RetryAt(moment) => format!("retry@{}", moment.0),
        TurnEffect::PartialAt(moment) => format!("save@{}", moment.0),
        TurnEffect::Ended(ended) => format!("ended({})", ended.name()),
        TurnEffect::Show(Sight::CallState { call, state: CallSight::Denied }) => {
            format!("denied({call})")
        }
        TurnEffect::Observe(_)
        | TurnEffect::Used(_)
        | TurnEffect::SetTodos(_)
        | TurnEffect::Show(_) => return None,
    })
}

#[test]
fn a_turn_without_calls_is_one_round() {
    let mut script = Script::new();
    assert_eq!(script.submit("hi"), "say(hi) round");
    assert_eq!(script.text("hel"), "save@250");
    assert_eq!(script.text("lo"), "");
    assert_eq!(script.on(TurnEvent::PartialDue), "partial(hello)");
    assert_eq!(script.text("!"), "save@250");
    assert_eq!(script.end(StopReason::EndTurn), "say(hello!) ended(end_turn)");
    assert!(script.turn.is_idle());
}

#[test]
fn much_text_is_saved_before_its_timer() {
    let mut script = Script::new();
    script.submit("hi");
    let long = "x".repeat(5_000);
    assert_eq!(script.text(&long), format!("partial({long})"));
}

#[test]
fn reading_calls_run_side_by_side_and_changing_ones_alone_and_in_order() {
    let mut script = Script::new();
    script.submit("go");
    assert_eq!(script.call("r1"), "call(r1)");
    script.call("r2");
    script.call("w3");
    script.call("r4");
    assert_eq!(script.end(StopReason::ToolUse), "prepare(r1)");
    assert_eq!(script.prepared("r1"), "run(r1) prepare(r2)");
    assert_eq!(script.prepared("r2"), "run(r2) prepare(w3)");
    assert_eq!(script.prepared("w3"), "");
    assert_eq!(script.done("r2"), "result(r2)");
    assert_eq!(script.done("r1"), "result(r1) run(w3)");
    assert_eq!(script.done("w3"), "result(w3) prepare(r4)");
    assert_eq!(script.prepared("r4"), "run(r4)");
    assert_eq!(script.done("r4"), "result(r4) round");
}

#[test]
fn a_question_is_answered_once_and_a_refusal_is_a_result() {
    let mut script = Script::asking().with_calls(&["w1", "w2"]);
    assert_eq!(script.prepared("w1"), "ask(w1)");
    assert_eq!(script.turn.phase(), Phase::Asking { call: &CallId::new("w1") });
    let yes = TurnEvent::Answered(CallId::new("w1"), Answer::Yes);
    assert_eq!(script.on(yes.clone()), "unask(w1) run(w1)");
    assert_eq!(script.on(yes), "");
    assert_eq!(script.done("w1"), "result(w1) prepare(w2)");
    script.prepared("w2");
    let no = TurnEvent::Answered(CallId::new("w2"), Answer::No { reason: None });
    assert_eq!(script.on(no), "unask(w2) denied(w2) result✗(w2) round");
}

#[test]
fn with_nobody_there_what_would_ask_is_denied() {
    let mut script = Script::asking();
    script.attended = Attended::ByNobody;
    let mut script = script.with_calls(&["w1"]);
    assert_eq!(script.prepared("w1"), "denied(w1) result✗(w1) round");
}

// X12: plan mode wins also over a call that waits for its answer.
#[test]
fn a_waiting_call_is_judged_again_when_the_rules_change() {
    let mut script = Script::asking().with_calls(&["w1"]);
    script.prepared("w1");
    script.verdict = Verdict::Deny { why: "plan mode".into() };
    assert_eq!(script.on(TurnEvent::RulesChanged), "unask(w1) denied(w1) result✗(w1) round");
}

#[test]
fn esc_keeps_what_was_said() {
    let mut script = Script::new();
    script.submit("hi");
    script.text("half a sen");
    assert_eq!(script.on(TurnEvent::Interrupt), "stop-round say!(half a sen) ended(interrupted)");
    assert!(script.turn.is_idle());
    assert_eq!(script.text("tence"), "");
}

// S14: every call gets a result, also when the turn is cut while some run and some wait.
#[test]
fn esc_in_a_batch_gives_every_call_a_result() {
    let mut script = Script::new().with_calls(&["r1", "w2", "w3"]);
    script.prepared("r1");
    script.prepared("w2");
    assert_eq!(script.on(TurnEvent::Interrupt), "stop(r1) result✗!(w2) result✗!(w3)");
    assert_eq!(script.stopped("r1"), "result✗!(r1) ended(interrupted)");
}

#[test]
fn a_second_esc_does_not_wait_for_a_call_that_will_not_stop() {
    let mut script = Script::new().with_calls(&["w1"]);
    script.prepared("w1");
    assert_eq!(script.on(TurnEvent::Interrupt), "stop(w1)");
    assert_eq!(script.on(TurnEvent::Interrupt), "result✗!(w1) ended(interrupted)");
    assert_eq!(script.stopped("w1"), "");
}

#[test]
fn a_broken_connection_is_tried_again_with_what_had_arrived() {
    let mut script = Script::new();
    script.submit("hi");
    script.text("half");
    script.now = 1_000;
    assert_eq!(script.fail(RoundErrorKind::Cut), "say!(half) retry@1050");
    assert_eq!(script.on(TurnEvent::RetryDue), "round");
    assert_eq!(script.fail(RoundErrorKind::Connect), "retry@1050");
    script.on(TurnEvent::RetryDue);
    assert_eq!(script.fail(RoundErrorKind::Connect), "ended(error)");
}

#[test]
fn calls_of_a_broken_reply_are_not_run() {
    let mut script = Script::new();
    script.submit("hi");
    script.call("w1");
    assert_eq!(script.fail(RoundErrorKind::Cut), "result✗!(w1) retry@50");
}

#[test]
fn what_asking_again_cannot_change_ends_the_turn() {
    for kind in [RoundErrorKind::Credentials, RoundErrorKind::Rejected] {
        let mut script = Script::new();
        script.submit("hi");
        assert_eq!(script.fail(kind), "ended(error)");
    }
}

#[test]
fn a_panic_in_the_round_ends_the_turn() {
    let mut script = Script::new();
    script.submit("hi");
    script.text("half");
    assert_eq!(script.on(TurnEvent::RoundDied("oops".into())), "say!(half) ended(error)");
}

#[test]
fn a_panic_in_a_tool_is_a_result() {
    let mut script = Script::new().with_calls(&["w1"]);
    script.prepared("w1");
    let died = TurnEvent::ToolDied(CallId::new("w1"), "oops".into());
    assert_eq!(script.on(died), "result✗(w1) round");
}

#[test]
fn messages_queue_while_busy_and_join_at_the_round_boundary() {
    let mut script = Script::new().with_calls(&["w1"]);
    assert_eq!(script.submit("and then"), "");
    assert_eq!(script.submit("more"), "");
    script.prepared("w1");
    assert_eq!(script.done("w1"), "result(w1) say(and then) say(more) round");
    assert!(script.turn.queue().is_empty());
}

#[test]
fn a_message_queued_in_the_last_round_begins_the_next_turn() {
    let mut script = Script::new();
    script.submit("one");
    script.submit("two");
    assert_eq!(script.end(StopReason::EndTurn), "ended(end_turn) say(two) round");
}

// W06: queued messages stay after an interruption, and go with the next message.
#[test]
fn after_an_interruption_the_queue_waits() {
    let mut script = Script::new();
    script.submit("one");
    script.submit("two");
    assert_eq!(script.on(TurnEvent::Interrupt), "stop-round ended(interrupted)");
    assert_eq!(script.turn.queue().len(), 1);
    assert_eq!(script.submit("three"), "say(two) say(three) round");
}

#[test]
fn a_model_that_calls_for_ever_is_stopped() {
    let mut script = Script::new();
    script.rounds_max = 1;
    let mut script = script.with_calls(&["r1"]);
    script.prepared("r1");
    assert_eq!(script.done("r1"), "result(r1) ended(round_limit)");
}

// W12
#[test]
fn a_call_that_the_output_limit_cut_is_not_run() {
    let mut script = Script::new();
    script.submit("go");
    let input = json!({"invalid_json": "{\"path\": \"a"});
    let call = ToolUse { id: CallId::new("w1"), name: "write".into(), input };
    script.on(TurnEvent::Round(RoundEvent::Call(call)));
    assert_eq!(script.end(StopReason::Length), "result✗(w1) round");
}

#[test]
fn a_call_id_that_was_used_before_becomes_another() {
    let mut script = Script::new().with_calls(&["r1"]);
    script.prepared("r1");
    script.done("r1");
    assert_eq!(script.call("r1"), "call(r1-2)");
    assert_eq!(script.call("r1"), "call(r1-3)");
}

#[test]
fn reasoning_and_text_are_blocks_of_their_own() {
    let mut script = Script::new();
    script.submit("hi");
    let think = TurnEvent::Round(RoundEvent::Reasoning("hm".into()));
    assert_eq!(script.on(think), "save@250");
    assert_eq!(script.text("yes"), "think(hm) save@250");
    assert_eq!(script.end(StopReason::EndTurn), "say(yes) ended(end_turn)");
}

#[test]
fn a_turn_is_observed_from_start_to_end() {
    let mut script = Script::new();
    script.submit("hi");
    script.now = 70;
    script.text("a");
    script.now = 100;
    let context = Context {
        at: At { moment: Moment(100), ..At::default() },
        judge: &|_| Verdict::Allow,
        is_taken: &|_| false,
        attended: Attended::ByPerson,
        retry: RetryPolicy::default(),
        rounds_max: 10,
        random: 0,
    };
    let end = RoundEvent::End { stop: StopReason::EndTurn, usage: None };
    let effects = script.turn.on(TurnEvent::Round(end), &context);
    let spans: Vec<&Span> = effects
        .iter()
        .filter_map(|effect| match effect {
            TurnEffect::Observe(span) => Some(span),
            _ => None,
        })
        .collect();
    let [
        Span::LlmCall { duration_ms: 100, ttft_ms: Some(70), attempts: 1, .. },
        Span::TurnEnd { llm_calls: 1, tool_calls: 0, interrupted: false, .. },
    ] = spans[..]
    else {
        panic!("{spans:?}")
    };
    assert_eq!(effects.last(), Some(&TurnEffect::Ended(Ended::Done(StopReason::EndTurn))));
}
