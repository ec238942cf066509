//! The object at the end of a program: the result of each behaviour, and what was read.

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

/// The behaviours that a verb reports, in the order of the page.
pub fn behaviours(verb: &str) -> Option<&'static [&'static str]> {
    match verb {
        "walk" => Some(&WALKING),
        "write" => Some(&WRITING),
        "read" => Some(&READING),
        "endure" => Some(&["endure"]),
        _ => None,
    }
}

/// The result of a run, shared with the code that ends it before its time.
pub struct Report {
    pub behaviours: Mutex<Map<String, Value>>,
    pub seen: Mutex<Seen>,
    pub committed: Mutex<i64>,
}

impl Report {
    pub fn new(verb: &[&str]) -> Self {
        let none = verb.iter().map(|name| (name.to_string(), json!("fail: not reached"))).collect();
        Report { behaviours: Mutex::new(none), seen: Mutex::default(), committed: Mutex::new(0) }
    }

    pub fn object<L: Library>(&self, verb: &str) -> Value {
        let (behaviours, seen) = (self.behaviours.lock().unwrap(), self.seen.lock().unwrap());
        json!({
            "client": L::NAME, "version": L::VERSION, "verb": verb, "behaviours": *behaviours,
            "seen": seen.counts, "digest": seen.digest, "committed": *self.committed.lock().unwrap(),
        })
    }

    pub fn set(&self, name: &str, word: impl Into<Value>) {
        self.behaviours.lock().unwrap().insert(name.into(), word.into());
    }
}
