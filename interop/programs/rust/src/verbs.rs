//! What a program does: its verbs, as steps that are each one behaviour of the page.

use std::sync::{Arc, Mutex};

use crate::endurance::endure;
use crate::library::{Library, Member};
use crate::promise::{records, Delivered, Record, Seen, CODECS, EACH, FURTHER, PARTITIONS, TOTAL};
use crate::report::Report;
use crate::transactions::Transactions;
use crate::until::{expect, until};
use crate::Result;

const OF_GROUPS: [&str; 5] = ["group", "second_member", "commit", "resume", "transactions"];
const FUTURE: i64 = 4_102_444_800_000; // 2100

const NOT_OFFERED: &str = "not offered";
const NOT_TRIED: &str = "not tried";

pub struct Run<'a, L: Library> {
    pub library: L,
    pub topic: &'a str,
    pub group: &'a str,
    pub report: Arc<Report>,
}

impl<L: Library> Run<'_, L> {
    pub async fn walk(&self) -> Result<()> {
        self.create().await?;
        self.produce_all().await?;
        let first = self.read_all().await?;
        self.step("commit", async || self.commit(&first).await).await?;
        self.step("second_member", async || self.second_member().await).await?;
        first.close().await?;
        self.step("resume", async || self.resume().await).await?;
        self.step("offsets_by_time", async || self.offsets_by_time().await).await?;
        if L::GROUPS && std::env::var("TRANSACTIONS").as_deref() != Ok("1") {
            self.report.set("transactions", NOT_TRIED);
            return Ok(());
        }
        self.step("transactions", async || self.transactions().await).await
    }

    /// What it tells as seen is what it wrote.
    pub async fn write(&self) -> Result<()> {
        self.create().await?;
        self.produce_all().await?;
        let written = CODECS.iter().flat_map(|codec| self.records(codec, 0, EACH));
        written.for_each(|record| self.report.seen.lock().unwrap().add(Delivered { partition: 0, offset: 0, record }));
        Ok(())
    }

    pub async fn read(&self) -> Result<()> {
        let member = self.read_all().await?;
        self.step("commit", async || self.commit(&member).await).await?;
        member.close().await
    }

    pub async fn endure(&self) -> Result<()> {
        self.step("endure", async || endure(&self.library, self.topic, self.group).await).await
    }

    /// One behaviour, where the verb tells of it and the library has it. A failure ends the run.
    async fn step(&self, name: &str, act: impl AsyncFnOnce() -> Result<()>) -> Result<()> {
        if !self.report.behaviours.lock().unwrap().contains_key(name) {
            return Ok(());
        }
        if !L::GROUPS && OF_GROUPS.contains(&name) || !L::NULL_HEADERS && name == "null_header" {
            self.report.set(name, NOT_OFFERED);
            return Ok(());
        }
        let done = act().await;
        let word = done.as_ref().map_or_else(|error| format!("fail: {error}"), |()| "pass".into());
        self.report.set(name, word);
        done
    }

    fn records(&self, codec: &str, first: usize, count: usize) -> Vec<Record> {
        records(codec, first, count, L::NULL_HEADERS)
    }

    async fn create(&self) -> Result<()> {
        let (library, topic) = (&self.library, self.topic);
        let made = async || library.create_topic(topic, PARTITIONS).await;
        self.step("create_topic", async || expect(made().await?, || "it was there".into())).await?;
        self.step("create_twice", async || expect(!made().await?, || "made twice".into())).await?;
        let all = |found: &usize| *found == PARTITIONS as usize;
        self.step("describe_topic", async || until("partitions", async || library.partitions(topic).await, all).await)
            .await
    }

    async fn produce_all(&self) -> Result<()> {
        for codec in CODECS {
            let made = self.records(codec, 0, EACH);
            let produce = async || self.library.produce(self.topic, codec, &made).await;
            self.step(&format!("produce_{codec}"), produce).await?;
        }
        Ok(())
    }

    /// Everything, by one member of the group. What comes after that is not looked at.
    async fn read_all(&self) -> Result<L::Member> {
        let report = self.report.clone();
        let deliver = move |delivered| {
            let mut seen = report.seen.lock().unwrap();
            if seen.total < TOTAL {
                seen.add(delivered);
            }
        };
        let member = self.library.consume(self.group, self.topic, deliver).await?;
        let seen = &self.report.seen;
        self.step("read", async || {
            until("records", async || Ok(seen.lock().unwrap().total), |total| *total == TOTAL).await?;
            let seen = seen.lock().unwrap();
            expect(seen.whole(), || format!("{:?}", seen.counts))
        })
        .await?;
        let wrong = seen.lock().unwrap().wrong.iter().take(3).cloned().collect::<Vec<_>>().join("; ");
        self.step("headers", async || expect(wrong.is_empty(), || wrong)).await?;
        let nulls = seen.lock().unwrap().nulls;
        self.step("null_header", async || expect(nulls == TOTAL, || format!("{nulls} seen"))).await?;
        self.step("group", async || self.has_members(&[PARTITIONS as usize]).await).await?;
        Ok(member)
    }

    async fn has_members(&self, partitions: &[usize]) -> Result<()> {
        let found = async || {
            let mut found = self.library.members(self.group).await?;
            found.sort();
            Ok(found)
        };
        until("partitions of the members", found, |found| found == partitions).await
    }

    async fn second_member(&self) -> Result<()> {
        let second = self.library.consume(self.group, self.topic, |_| ()).await?;
        self.has_members(&[1, 2]).await?;
        second.close().await?;
        self.has_members(&[PARTITIONS as usize]).await
    }

    async fn commit(&self, member: &L::Member) -> Result<()> {
        let positions = self.report.seen.lock().unwrap().positions.clone();
        member.commit(&positions).await?;
        let offsets = self.library.committed(self.group, self.topic).await?;
        let sum = offsets.iter().sum();
        *self.report.committed.lock().unwrap() = sum;
        expect(sum == TOTAL as i64, || format!("{offsets:?} asked back"))
    }

    async fn resume(&self) -> Result<()> {
        let again = Arc::new(Mutex::new(Seen::default()));
        let into = again.clone();
        let deliver = move |delivered| into.lock().unwrap().add(delivered);
        let member = self.library.consume(self.group, self.topic, deliver).await?;
        self.library.produce(self.topic, "none", &self.records("none", EACH, FURTHER)).await?;
        until("further records", async || Ok(again.lock().unwrap().total), |total| *total >= FURTHER).await?;
        member.close().await?;
        let again = again.lock().unwrap();
        let whole = again.total == FURTHER && again.counts["none"] == FURTHER;
        expect(whole, || format!("delivered: {:?}", again.counts))?;
        let mut seen = self.report.seen.lock().unwrap();
        seen.positions.extend(&again.positions);
        let end: i64 = seen.positions.values().sum();
        expect(end == (TOTAL + FURTHER) as i64, || format!("positions of {end} in all"))
    }

    async fn offsets_by_time(&self) -> Result<()> {
        let first = self.library.offset_at(self.topic, 0, 0).await?;
        let none = self.library.offset_at(self.topic, 0, FUTURE).await?;
        let end = self.report.seen.lock().unwrap().positions[&0];
        expect(first == 0, || format!("{first} for time 0"))?;
        expect(none < 0 || none == end, || format!("{none} for the future"))
    }

    async fn transactions(&self) -> Result<()> {
        let [topic, group] = [self.topic, self.group].map(|name| format!("{name}-transactions"));
        Transactions { library: &self.library, topic: &topic, group: &group }.check().await
    }
}
