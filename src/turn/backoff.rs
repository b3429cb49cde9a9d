//! How long to wait before the same request is sent again.

/// The one retry policy, for rounds, summaries, titles and side models (spec, providers, *Retry*).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Requests in all, the first included; at least 1.
    pub attempts: u32,
    pub base_delay_ms: u64,
    pub delay_max_ms: u64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { attempts: 5, base_delay_ms: 500, delay_max_ms: 30_000 }
    }
}

/// Returns the wait in milliseconds after failed attempt number `attempt` (from 1).
///
/// What the server asked for is obeyed up to `delay_max_ms`; else exponential backoff with full jitter
/// (Brooker 2015): uniform in `0..=min(delay_max, base * 2^(attempt-1))`.
pub fn delay_ms(policy: &RetryPolicy, attempt: u32, asked_ms: Option<u64>, random: u64) -> u64 {
    if let Some(asked) = asked_ms {
        return asked.min(policy.delay_max_ms);
    }
    let doubled = 1_u64.checked_shl(attempt.saturating_sub(1)).unwrap_or(u64::MAX);
    let most = policy.base_delay_ms.saturating_mul(doubled).min(policy.delay_max_ms);
    random % most.saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_grows_to_its_limit_and_obeys_the_server() {
        let policy = RetryPolicy::default();
        for (attempt, asked, random, wanted) in [
            (1, None, 500, 500),
            (1, None, 501, 0),
            (3, None, 2_000, 2_000),
            (40, None, 30_000, 30_000),
            (200, None, 30_000, 30_000),
            (1, Some(1_234), 0, 1_234),
            (1, Some(99_999), 0, 30_000),
        ] {
            assert_eq!(delay_ms(&policy, attempt, asked, random), wanted, "{attempt} {asked:?}");
        }
    }
}
