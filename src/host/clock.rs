//! The one clock.
#![expect(clippy::disallowed_methods, reason = "the edge reads the clock")]

use std::time::{Duration, Instant};

use crate::base::time::{At, Moment, Timestamp};

/// Both clocks of the process, read together.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    started: Instant,
}

impl Clock {
    pub fn start() -> Self {
        Self { started: Instant::now() }
    }

    pub fn at(&self) -> At {
        let moment = Moment(u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX));
        At { moment, wall: Timestamp::from_millis(chrono::Utc::now().timestamp_millis()) }
    }

    /// The runtime's time of a moment.
    pub fn instant(&self, moment: Moment) -> tokio::time::Instant {
        // A moment far away must not overflow the system's clock.
        let ms = moment.0.min(u64::from(u32::MAX));
        tokio::time::Instant::from_std(self.started + Duration::from_millis(ms))
    }

    /// A number that differs between processes, to seed ids with.
    pub fn seed() -> u64 {
        let nanos = chrono::Utc::now().timestamp_nanos_opt().unwrap_or_default();
        // Two processes of one nanosecond differ by their ids.
        nanos.cast_unsigned() ^ (u64::from(std::process::id()) << 32)
    }
}
