//! The verb `endure`: writes and reads while brokers are killed, until its input ends; then until it has read all that was
//! acknowledged, and committed that. It tells what happens, a line for each thing.

use std::collections::{BTreeMap, HashSet};
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::spawn;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::library::{Library, Member, Writer};
use crate::promise::{records, Delivered};
use crate::Result;

const AT_ONCE: usize = 10;
/// The machine is shared.
const PAUSE: Duration = Duration::from_millis(50);
/// After the end of the input; then it gives up.
const LASTING: Duration = Duration::from_secs(100);

#[derive(Default)]
struct Seen {
    numbers: HashSet<usize>,
    positions: BTreeMap<i32, i64>,
}

pub async fn endure<L: Library>(library: &L, topic: &str, group: &str) -> Result<()> {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let into = seen.clone();
    let member = library.consume(group, topic, move |delivered| take(&mut into.lock().unwrap(), &delivered)).await?;
    let mut writer = library.writer(topic).await?;
    let over = end_of_input();
    let (mut acknowledged, mut committed, mut first) = (HashSet::new(), BTreeMap::new(), 0);
    while !over.load(Ordering::Relaxed) {
        let end = first + AT_ONCE;
        match writer.send(&records("none", first, AT_ONCE, L::NULL_HEADERS)).await {
            Ok(()) => {
                acknowledged.extend(first..end);
                println!("> wrote {first} {end}");
            }
            Err(error) => println!("> failed {first} {end} {}", line(&*error)),
        }
        first = end;
        commit::<L>(&member, &seen, &mut committed).await;
        sleep(PAUSE).await;
    }
    let end = Instant::now() + LASTING;
    while !(seen.lock().unwrap().numbers.is_superset(&acknowledged)
        && commit::<L>(&member, &seen, &mut committed).await)
    {
        if Instant::now() > end {
            return Err("not all was read and committed in time".into());
        }
        sleep(PAUSE).await;
    }
    member.close().await
}

fn take(seen: &mut Seen, Delivered { partition, offset, record }: &Delivered) {
    let value = String::from_utf8_lossy(&record.value);
    let number = value.split('-').nth(1).and_then(|number| number.parse().ok()).unwrap_or(usize::MAX);
    println!("> read {partition} {offset} {number}");
    seen.numbers.insert(number);
    seen.positions.insert(*partition, offset + 1);
}

/// Whether all positions are committed. What fails, as with a rebalance, is committed with what is read next.
async fn commit<L: Library>(member: &L::Member, seen: &Mutex<Seen>, committed: &mut BTreeMap<i32, i64>) -> bool {
    let positions = seen.lock().unwrap().positions.clone();
    if !L::GROUPS || positions == *committed {
        return true;
    }
    match member.commit(&positions).await {
        Ok(()) => {
            println!("> committed");
            *committed = positions;
            true
        }
        Err(error) => {
            println!("> uncommitted {}", line(&*error));
            false
        }
    }
}

fn line(error: &dyn std::error::Error) -> String {
    error.to_string().replace('\n', " ")
}

fn end_of_input() -> Arc<AtomicBool> {
    let over = Arc::new(AtomicBool::new(false));
    let stop = over.clone();
    spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut vec![]); // an input that breaks has ended, too
        stop.store(true, Ordering::Relaxed);
    });
    over
}
