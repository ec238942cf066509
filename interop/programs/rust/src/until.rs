//! Waiting for what others make true: asked again until a deadline, and never a sleep in order that something be so.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::Result;

const PATIENCE: Duration = Duration::from_secs(20);
const BETWEEN: Duration = Duration::from_millis(20);

/// Calls `ask` until `holds` accepts the answer. An error of the last call is reported.
pub async fn until<T: Debug>(what: &str, ask: impl AsyncFn() -> Result<T>, holds: impl Fn(&T) -> bool) -> Result<()> {
    let end = Instant::now() + PATIENCE;
    loop {
        let answer = ask().await;
        if answer.as_ref().is_ok_and(&holds) {
            return Ok(());
        }
        if Instant::now() > end {
            return Err(format!("{what}: {answer:?}").into());
        }
        sleep(BETWEEN).await;
    }
}

pub fn expect(holds: bool, why: impl FnOnce() -> String) -> Result<()> {
    if holds {
        Ok(())
    } else {
        Err(why().into())
    }
}
