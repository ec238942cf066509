//! rskafka, in Rust alone. It has no consumer groups, by design: it reads each partition from an offset; and its
//! headers are a map of names to bytes, never null.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use chrono::DateTime;
use futures::future::try_join_all;
use programs::library::{self, Deliver, Library, NoTransactions};
use programs::promise::{Delivered, Record};
use programs::{program, Result};
use rskafka::client::error::{Error, ProtocolError};
use rskafka::client::partition::{Compression, OffsetAt, PartitionClient, UnknownTopicHandling};
use rskafka::client::{Client, ClientBuilder};
use tokio::task::JoinHandle;

const PATIENCE: i32 = 10_000; // ms
const WAIT: i32 = 200; // ms
const MOST: i32 = 1_000_000; // bytes

struct Rskafka(Client);

impl Rskafka {
    async fn partition(&self, topic: &str, partition: i32) -> Result<Arc<PartitionClient>> {
        Ok(Arc::new(self.0.partition_client(topic, partition, UnknownTopicHandling::Retry).await?))
    }

    async fn every(&self, topic: &str) -> Result<Vec<Arc<PartitionClient>>> {
        let partitions = self.partitions(topic).await? as i32;
        try_join_all((0..partitions).map(|partition| self.partition(topic, partition))).await
    }
}

impl Library for Rskafka {
    const NAME: &'static str = "rskafka";
    const VERSION: &'static str = "0.6.0";
    const NULL_HEADERS: bool = false;
    const GROUPS: bool = false;
    type Member = Readers;
    type Writer = Writer;
    type Transactional = NoTransactions;

    async fn open(bootstrap: &str) -> Result<Self> {
        Ok(Rskafka(ClientBuilder::new(bootstrap.split(',').map(String::from).collect()).build().await?))
    }

    async fn create_topic(&self, topic: &str, partitions: i32) -> Result<bool> {
        match self.0.controller_client()?.create_topic(topic, partitions, 1, PATIENCE).await {
            Ok(()) => Ok(true),
            Err(Error::ServerError { protocol_error: ProtocolError::TopicAlreadyExists, .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    async fn partitions(&self, topic: &str) -> Result<usize> {
        let topics = self.0.list_topics().await?;
        Ok(topics.iter().find(|found| found.name == topic).map_or(0, |found| found.partitions.len()))
    }

    async fn produce(&self, topic: &str, codec: &str, records: &[Record]) -> Result<()> {
        let compression = match codec {
            "gzip" => Compression::Gzip,
            "snappy" => Compression::Snappy,
            "lz4" => Compression::Lz4,
            "zstd" => Compression::Zstd,
            _ => Compression::NoCompression,
        };
        send(&self.every(topic).await?, records, compression).await
    }

    async fn writer(&self, topic: &str) -> Result<Writer> {
        Ok(Writer(self.every(topic).await?))
    }

    async fn consume(&self, _group: &str, topic: &str, deliver: impl Deliver) -> Result<Readers> {
        let read = |partition| tokio::spawn(read(partition, deliver.clone()));
        Ok(Readers(self.every(topic).await?.into_iter().map(read).collect()))
    }

    async fn offset_at(&self, topic: &str, partition: i32, time: i64) -> Result<i64> {
        let time = DateTime::from_timestamp_millis(time).ok_or("no such time")?;
        Ok(self.partition(topic, partition).await?.get_offset(OffsetAt::Timestamp(time)).await?)
    }
}

struct Writer(Vec<Arc<PartitionClient>>);

impl library::Writer for Writer {
    async fn send(&mut self, records: &[Record]) -> Result<()> {
        send(&self.0, records, Compression::NoCompression).await
    }
}

/// To each partition in turn.
async fn send(partitions: &[Arc<PartitionClient>], records: &[Record], compression: Compression) -> Result<()> {
    for (number, partition) in partitions.iter().enumerate() {
        let made = records.iter().skip(number).step_by(partitions.len()).map(converted).collect();
        partition.produce(made, compression).await?;
    }
    Ok(())
}

fn converted(Record { key, value, headers }: &Record) -> rskafka::record::Record {
    let valued = headers.iter().filter_map(|(name, value)| Some((name.clone(), value.clone()?)));
    rskafka::record::Record {
        key: key.clone(),
        value: Some(value.clone()),
        headers: valued.collect(),
        timestamp: SystemTime::now().into(),
    }
}

/// Reads a partition, until it is stopped or the library gives up.
async fn read(partition: Arc<PartitionClient>, deliver: impl Deliver) {
    let mut next = 0;
    loop {
        let found = match partition.fetch_records(next, 1..MOST, WAIT).await {
            Ok((found, _)) => found,
            Err(error) => return eprintln!("partition {}: {error}", partition.partition()),
        };
        for one in found {
            next = one.offset + 1;
            let rskafka::record::Record { key, value, headers, .. } = one.record;
            let headers = headers.into_iter().map(|(name, value)| (name, Some(value))).collect();
            let record = Record { key, value: value.unwrap_or_default(), headers };
            deliver(Delivered { partition: partition.partition(), offset: one.offset, record });
        }
    }
}

struct Readers(Vec<JoinHandle<()>>);

impl library::Member for Readers {
    async fn commit(&self, _positions: &BTreeMap<i32, i64>) -> Result<()> {
        unimplemented!("no groups")
    }

    async fn close(self) -> Result<()> {
        self.0.iter().for_each(JoinHandle::abort);
        Ok(())
    }
}

#[tokio::main]
async fn main() {
    program::run::<Rskafka>().await
}
