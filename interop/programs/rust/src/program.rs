//! A client program, `PROGRAM walk|write|read|endure BOOTSTRAP TOPIC GROUP`: its last line is one JSON object, its exit code 0
//! if all went well.

use std::process::exit;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::library::Library;
use crate::report::{behaviours, Report};
use crate::verbs::Run;
use crate::Result;

/// Then it gives up, but for what lasts as long as its input.
const WHOLE: Duration = Duration::from_secs(60);

/// Runs the program of a library and ends the process.
pub async fn run<L: Library>() -> ! {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [verb, bootstrap, topic, group] = words.iter().map(String::as_str).collect::<Vec<_>>()[..] else { usage() };
    let report = Arc::new(Report::new(behaviours(verb).unwrap_or_else(|| usage())));
    let work = work::<L>(verb, bootstrap, topic, group, report.clone());
    let done = match verb {
        "endure" => work.await,
        _ => timeout(WHOLE, work).await.unwrap_or_else(|_| Err("not done after 60 s".into())),
    };
    if let Err(error) = &done {
        eprintln!("{error}");
    }
    println!("{}", report.object::<L>(verb));
    exit(i32::from(done.is_err()))
}

async fn work<L: Library>(verb: &str, bootstrap: &str, topic: &str, group: &str, report: Arc<Report>) -> Result<()> {
    let run = Run { library: L::open(bootstrap).await?, topic, group, report };
    match verb {
        "walk" => run.walk().await,
        "write" => run.write().await,
        "endure" => run.endure().await,
        _ => run.read().await,
    }
}

fn usage() -> ! {
    eprintln!("usage: {} walk|write|read|endure BOOTSTRAP TOPIC GROUP", std::env::args().next().unwrap_or_default());
    exit(2)
}
