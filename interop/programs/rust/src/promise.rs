//! The records that every client program writes and expects, and their digest. This file never talks to a broker.
//!
//! Record n of a codec: the key is "k<n mod 50>", null for every tenth; the value names both; the headers c and n say
//! them again, and a header "null" has no value.

use std::collections::BTreeMap;

pub const CODECS: [&str; 5] = ["none", "gzip", "snappy", "lz4", "zstd"];
pub const EACH: usize = 200;
pub const TOTAL: usize = EACH * CODECS.len();
/// Written after the group has committed; their numbers go on from EACH.
pub const FURTHER: usize = 30;
pub const PARTITIONS: i32 = 3;

pub struct Record {
    pub key: Option<Vec<u8>>,
    pub value: Vec<u8>,
    pub headers: Vec<(String, Option<Vec<u8>>)>,
}

pub fn records(codec: &str, first: usize, count: usize, null_headers: bool) -> Vec<Record> {
    (first..first + count).map(|n| record(codec, n, null_headers)).collect()
}

fn record(codec: &str, n: usize, null_headers: bool) -> Record {
    let mut headers = vec![("c".into(), Some(codec.into())), ("n".into(), Some(n.to_string().into_bytes()))];
    if null_headers {
        headers.push(("null".into(), None));
    }
    Record {
        key: (n % 10 != 9).then(|| format!("k{}", n % 50).into_bytes()),
        value: format!("{codec}-{n}-{}", "x".repeat(100)).into_bytes(),
        headers,
    }
}

/// A record, and where it was.
pub struct Delivered {
    pub partition: i32,
    pub offset: i64,
    pub record: Record,
}

/// What was delivered: counts by codec, a digest free of order, the next offset of each partition, what was wrong.
pub struct Seen {
    pub counts: BTreeMap<String, usize>,
    pub digest: u32,
    pub total: usize,
    pub positions: BTreeMap<i32, i64>,
    pub wrong: Vec<String>,
    pub nulls: usize,
}

impl Default for Seen {
    fn default() -> Self {
        let counts = CODECS.iter().map(|codec| (codec.to_string(), 0)).collect();
        Seen { counts, digest: 0, total: 0, positions: BTreeMap::new(), wrong: vec![], nulls: 0 }
    }
}

impl Seen {
    pub fn add(&mut self, Delivered { partition, offset, record }: Delivered) {
        let [codec, n] = ["c", "n"].map(|name| text(&record, name));
        if !record.value.starts_with(format!("{codec}-{n}-").as_bytes()) {
            self.wrong.push(format!("c={codec} n={n}: {}", String::from_utf8_lossy(&record.value)));
        }
        match record.headers.iter().find(|(name, _)| name == "null") {
            Some((_, None)) => self.nulls += 1,
            Some(_) => self.wrong.push(format!("null of {codec} {n} has a value")),
            None => (),
        }
        let line = [codec.as_bytes(), record.key.as_deref().unwrap_or(b"-"), &record.value].join(&b'|');
        self.digest = self.digest.wrapping_add(fnv1a(&line));
        *self.counts.entry(codec).or_default() += 1;
        self.total += 1;
        self.positions.insert(partition, offset + 1);
    }

    /// So many of each codec.
    pub fn whole(&self) -> bool {
        self.counts.len() == CODECS.len() && self.counts.values().all(|count| *count == EACH)
    }
}

fn text(record: &Record, header: &str) -> String {
    let found = record.headers.iter().find(|(name, _)| name == header).and_then(|(_, value)| value.as_deref());
    String::from_utf8_lossy(found.unwrap_or_default()).into_owned()
}

fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x01000193))
}
