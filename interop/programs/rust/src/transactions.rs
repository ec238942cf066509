//! Transactions: records that are committed and aborted, offsets that are committed with a transaction, a producer that
//! a newer one fences, and a transaction that the broker aborts after its timeout.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::library::{Library, Member, Transactional};
use crate::promise::{records, Seen};
use crate::until::{expect, until};
use crate::Result;

const PART: usize = 10;
const LONG: Duration = Duration::from_secs(60);
/// librdkafka bounds the time of a record by it, and needs a second or two to begin.
const SHORT: Duration = Duration::from_secs(5);
const ABORTED: i64 = 7;
const COMMITTED: i64 = 5;

pub struct Transactions<'a, L: Library> {
    pub library: &'a L,
    pub topic: &'a str,
    pub group: &'a str,
}

impl<L: Library> Transactions<'_, L> {
    /// The codec's name in a record says which transaction it is of: none and zstd are committed, gzip and lz4 aborted.
    pub async fn check(&self) -> Result<()> {
        self.library.create_topic(self.topic, 1).await?;
        let producer = self.library.transactional(self.topic, LONG).await?;
        self.part(&producer, "none", 0).await?;
        producer.end(true)?;
        self.part(&producer, "gzip", 0).await?;
        producer.end(false)?;
        self.part(&producer, "none", PART).await?;
        producer.end(true)?;

        let seen = Arc::new(Mutex::new(Seen::default()));
        let into = seen.clone();
        let deliver = move |delivered| into.lock().unwrap().add(delivered);
        let member = self.library.consume(self.group, self.topic, deliver).await?;
        let count = |codec| seen.lock().unwrap().counts[codec];
        until("committed records", async || Ok(count("none")), |found| *found == 2 * PART).await?;
        self.offsets(&producer, &member).await?;
        let late = self.fence(producer).await?;
        // The open transaction of `late` holds back what follows, until the broker aborts it.
        until("records after the timeout", async || Ok(count("zstd")), |found| *found == PART).await?;
        refused(&late)?;
        member.close().await?;
        let total = seen.lock().unwrap().total;
        expect(total == 3 * PART, || format!("read: {:?}", seen.lock().unwrap().counts))
    }

    /// Begins a transaction with ten records.
    async fn part(&self, producer: &L::Transactional, codec: &str, first: usize) -> Result<()> {
        producer.begin()?;
        producer.send(self.topic, &records(codec, first, PART, L::NULL_HEADERS)).await
    }

    /// An offset of an aborted transaction, and then one of a committed transaction.
    async fn offsets(&self, producer: &L::Transactional, member: &L::Member) -> Result<()> {
        for (offset, commit, expected) in [(ABORTED, false, -1), (COMMITTED, true, COMMITTED)] {
            producer.begin()?;
            producer.send_offset(member, self.topic, offset)?;
            producer.end(commit)?;
            let found = async || Ok(self.library.committed(self.group, self.topic).await?[0]);
            until("the committed offset", found, |found| *found == expected).await?;
        }
        Ok(())
    }

    /// Fences the producer by a newer one. Returns a third producer, whose transaction was open before.
    async fn fence(&self, zombie: L::Transactional) -> Result<L::Transactional> {
        let late = self.library.transactional(&format!("{}-late", self.topic), SHORT).await?;
        self.part(&zombie, "gzip", PART).await?;
        self.part(&late, "lz4", 0).await?;
        let newer = self.library.transactional(self.topic, LONG).await?;
        self.part(&newer, "zstd", 0).await?;
        newer.end(true)?;
        refused(&zombie)?;
        Ok(late)
    }
}

fn refused<M>(producer: &impl Transactional<M>) -> Result<()> {
    expect(producer.end(true).is_err(), || "a producer that was fenced has committed".into())
}
