//! A turn's spans → observations of the archive: names and digests added.

use crate::conversation::model::ModelChoice;
use crate::conversation::usage::Usage;
use crate::session::obs::{self, LlmCall, Outcome, ToolCall, TurnEnd};
use crate::turn::Span;
use crate::turn::effect::SpanOutcome;

/// `estimated` is asked for the usage of a round that ended well without any.
pub(super) fn recorded(
    span: Span,
    model: &ModelChoice,
    estimated: impl FnOnce() -> Usage,
) -> obs::Span {
    match span {
        Span::TurnStart => obs::Span::TurnStart,
        Span::LlmCall { duration_ms, ttft_ms, usage, outcome: how, attempts } => {
            let usage = match how {
                SpanOutcome::Ok => Some(usage.unwrap_or_else(estimated)),
                SpanOutcome::Aborted | SpanOutcome::Error(_) => usage,
            };
            obs::Span::LlmCall(LlmCall {
                provider: model.provider.clone(),
                model: model.id.clone(),
                duration_ms,
                ttft_ms,
                usage: usage.map(Into::into),
                outcome: outcome(how),
                purpose: obs::Purpose::Round,
                attempts,
            })
        }
        Span::ToolCall { call, call_seq, result, duration_ms, outcome: how } => {
            let arguments = call.input.to_string();
            obs::Span::ToolCall(ToolCall {
                tool: call.name,
                call_seq: u64::from(call_seq),
                args_digest: obs::digest(arguments.as_bytes()),
                result_digest: obs::digest(result.as_bytes()),
                bytes_in: arguments.len() as u64,
                bytes_out: result.len() as u64,
                duration_ms,
                outcome: outcome(how),
            })
        }
        Span::TurnEnd { stop_reason, interrupted, llm_calls, tool_calls } => {
            let (llm_calls, tool_calls) = (u64::from(llm_calls), u64::from(tool_calls));
            obs::Span::TurnEnd(TurnEnd { stop_reason, interrupted, llm_calls, tool_calls })
        }
    }
}

fn outcome(how: SpanOutcome) -> Outcome {
    match how {
        SpanOutcome::Ok => Outcome::Ok,
        SpanOutcome::Aborted => Outcome::Aborted,
        SpanOutcome::Error(text) => Outcome::error(&text),
    }
}
