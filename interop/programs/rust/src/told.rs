//! The object at the end of a program: what it tells of each behaviour, and what it saw.

use std::sync::Mutex;

use serde_json::{json, Map, Value};

use crate::library::Library;
use crate::promise::Seen;

const WRITING: [&str; 6] =
    ["create_topic", "produce_none", "produce_gzip", "produce_snappy", "produce_lz4", "produce_zstd"];
const READING: [&str; 4] = ["read", "headers", "group", "commit"];
const WALKING: [&str; 17] = [
    "create_topic",
    "create_twice",
    "describe_topic",
    "produce_none",
    "produce_gzip",
    "produce_snappy",
    "produce_lz4",
    "produce_zstd",
    "read",
    "headers",
    "null_header",
    "group",
    "second_member",
    "commit",
    "resume",
    "offsets_by_time",
    "transactions",
];

/// The behaviours that a verb tells of, in the order of the page.
pub fn behaviours(verb: &str) -> Option<&'static [&'static str]> {
    match verb {
        "walk" => Some(&WALKING),
        "write" => Some(&WRITING),
        "read" => Some(&READING),
        "endure" => Some(&["endure"]),
        _ => None,
    }
}

/// What is told of a run, shared with whoever ends it before its time.
pub struct Told {
    pub behaviours: Mutex<Map<String, Value>>,
    pub seen: Mutex<Seen>,
    pub committed: Mutex<i64>,
}

impl Told {
    pub fn new(verb: &[&str]) -> Self {
        let none = verb.iter().map(|name| (name.to_string(), json!("fail: not reached"))).collect();
        Told { behaviours: Mutex::new(none), seen: Mutex::default(), committed: Mutex::new(0) }
    }

    pub fn object<L: Library>(&self, verb: &str) -> Value {
        let (behaviours, seen) = (self.behaviours.lock().unwrap(), self.seen.lock().unwrap());
        json!({
            "client": L::NAME, "version": L::VERSION, "verb": verb, "behaviours": *behaviours,
            "seen": seen.counts, "digest": seen.digest, "committed": *self.committed.lock().unwrap(),
        })
    }

    pub fn says(&self, name: &str, word: impl Into<Value>) {
        self.behaviours.lock().unwrap().insert(name.into(), word.into());
    }
}
