//! rust-rdkafka, on the librdkafka that its crate brings.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{spawn, JoinHandle};
use std::time::Duration;

use futures::future::try_join_all;
use programs::library::{self, Deliver, Library};
use programs::promise::{Delivered, Record, PARTITIONS};
use programs::{program, Result};
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::error::RDKafkaErrorCode;
use rdkafka::message::{BorrowedMessage, Header, Headers, Message, OwnedHeaders};
use rdkafka::producer::{FutureProducer, FutureRecord, Producer};
use rdkafka::{Offset, TopicPartitionList};

const PATIENCE: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(100);
const BEATS: &str = "200"; // ms; a member hears of a rebalance when it beats

struct Rdkafka {
    config: ClientConfig,
    admin: AdminClient<DefaultClientContext>,
    asking: BaseConsumer,
}

impl Rdkafka {
    fn with(&self, settings: &[(&str, &str)]) -> ClientConfig {
        let mut config = self.config.clone();
        for (key, value) in settings {
            config.set(*key, *value);
        }
        config
    }
}

impl Library for Rdkafka {
    const NAME: &'static str = "rust-rdkafka";
    const VERSION: &'static str = "0.39.0";
    const NULL_HEADERS: bool = true;
    const GROUPS: bool = true;
    type Member = Member;
    type Writer = Writer;
    type Transactional = Transactional;

    async fn open(bootstrap: &str) -> Result<Self> {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", bootstrap);
        Ok(Rdkafka { admin: config.create()?, asking: config.create()?, config })
    }

    async fn create_topic(&self, topic: &str, partitions: i32) -> Result<bool> {
        let new_topic = NewTopic::new(topic, partitions, TopicReplication::Fixed(1));
        match self.admin.create_topics(&[new_topic], &AdminOptions::new()).await?.remove(0) {
            Ok(_) => Ok(true),
            Err((_, RDKafkaErrorCode::TopicAlreadyExists)) => Ok(false),
            Err((_, code)) => Err(code.into()),
        }
    }

    async fn partitions(&self, topic: &str) -> Result<usize> {
        let metadata = self.asking.fetch_metadata(Some(topic), PATIENCE)?;
        Ok(metadata.topics()[0].partitions().len())
    }

    async fn produce(&self, topic: &str, codec: &str, records: &[Record]) -> Result<()> {
        let producer = self.with(&[("compression.type", codec), ("linger.ms", "20")]).create()?;
        send(&producer, topic, records).await
    }

    async fn writer(&self, topic: &str) -> Result<Writer> {
        let producer = self.with(&[("acks", "all"), ("enable.idempotence", "true")]).create()?;
        Ok(Writer { producer, topic: topic.into() })
    }

    async fn consume(&self, group: &str, topic: &str, deliver: impl Deliver) -> Result<Member> {
        let settings = [
            ("group.id", group),
            ("auto.offset.reset", "earliest"),
            ("enable.auto.commit", "false"),
            ("heartbeat.interval.ms", BEATS),
        ];
        let consumer: Arc<BaseConsumer> = Arc::new(self.with(&settings).create()?);
        consumer.subscribe(&[topic])?;
        let leaving = Arc::new(AtomicBool::new(false));
        let (polled, until) = (consumer.clone(), leaving.clone());
        let polling = spawn(move || {
            while !until.load(Ordering::Relaxed) {
                match polled.poll(POLL) {
                    Some(Ok(message)) => deliver(delivered(&message)),
                    Some(Err(error)) => eprintln!("{error}"), // printed, and polled on: a rebalance is no error
                    None => (),
                }
            }
        });
        Ok(Member { consumer, topic: topic.into(), leaving, polling })
    }

    async fn offset_at(&self, topic: &str, partition: i32, time: i64) -> Result<i64> {
        let mut times = TopicPartitionList::new();
        times.add_partition_offset(topic, partition, Offset::Offset(time))?;
        Ok(number(self.asking.offsets_for_times(times, PATIENCE)?.elements()[0].offset()))
    }

    async fn members(&self, group: &str) -> Result<Vec<usize>> {
        let found = self.asking.fetch_group_list(Some(group), PATIENCE)?;
        let [group] = found.groups() else { return Ok(vec![]) };
        Ok(group.members().iter().map(|member| assigned(member.assignment().unwrap_or_default())).collect())
    }

    async fn committed(&self, group: &str, topic: &str) -> Result<Vec<i64>> {
        let asking: BaseConsumer = self.with(&[("group.id", group)]).create()?;
        let mut requested = TopicPartitionList::new();
        requested.add_partition_range(topic, 0, PARTITIONS - 1);
        let found = asking.committed_offsets(requested, PATIENCE)?;
        Ok(found.elements().iter().map(|element| number(element.offset())).collect())
    }

    async fn transactional(&self, id: &str, timeout: Duration) -> Result<Transactional> {
        let timeout_ms = timeout.as_millis().to_string();
        let settings = [("transactional.id", id), ("transaction.timeout.ms", timeout_ms.as_str())];
        let producer: FutureProducer = self.with(&settings).create()?;
        producer.init_transactions(PATIENCE)?;
        Ok(Transactional(producer))
    }
}

async fn send(producer: &FutureProducer, topic: &str, records: &[Record]) -> Result<()> {
    let sent = records.iter().map(|Record { key, value, headers }| {
        let headers = headers
            .iter()
            .fold(OwnedHeaders::new(), |all, (key, value)| all.insert(Header { key, value: value.as_ref() }));
        let mut record = FutureRecord::to(topic).payload(value).headers(headers);
        record.key = key.as_ref();
        producer.send(record, PATIENCE)
    });
    try_join_all(sent).await.map_err(|(error, _)| error)?;
    Ok(())
}

fn delivered(message: &BorrowedMessage) -> Delivered {
    let headers = message.headers().into_iter().flat_map(|headers| headers.iter());
    let record = Record {
        key: message.key().map(<[u8]>::to_vec),
        value: message.payload().unwrap_or_default().to_vec(),
        headers: headers.map(|Header { key, value }| (key.into(), value.map(<[u8]>::to_vec))).collect(),
    };
    Delivered { partition: message.partition(), offset: message.offset(), record }
}

fn number(offset: Offset) -> i64 {
    match offset {
        Offset::Offset(number) => number,
        _ => -1,
    }
}

/// How many partitions stand in an assignment of the consumer protocol: a version, then topics, each with its numbers.
fn assigned(bytes: &[u8]) -> usize {
    let mut rest = bytes.get(2..).unwrap_or_default();
    let mut taken = |length: usize| -> usize {
        let (now, after) = rest.split_at(length.min(rest.len()));
        rest = after;
        now.iter().fold(0, |number, byte| number << 8 | usize::from(*byte))
    };
    let topics = taken(4);
    let mut found = 0;
    for _ in 0..topics {
        let name = taken(2);
        taken(name);
        let count = taken(4);
        taken(4 * count);
        found += count;
    }
    found
}

struct Writer {
    producer: FutureProducer,
    topic: String,
}

impl library::Writer for Writer {
    async fn send(&mut self, records: &[Record]) -> Result<()> {
        send(&self.producer, &self.topic, records).await
    }
}

struct Transactional(FutureProducer);

impl library::Transactional<Member> for Transactional {
    fn begin(&self) -> Result<()> {
        Ok(self.0.begin_transaction()?)
    }

    async fn send(&self, topic: &str, records: &[Record]) -> Result<()> {
        send(&self.0, topic, records).await
    }

    fn send_offset(&self, member: &Member, topic: &str, offset: i64) -> Result<()> {
        let mut offsets = TopicPartitionList::new();
        offsets.add_partition_offset(topic, 0, Offset::Offset(offset))?;
        let group = member.consumer.group_metadata().ok_or("the member has no group")?;
        Ok(self.0.send_offsets_to_transaction(&offsets, &group, PATIENCE)?)
    }

    fn end(&self, commit: bool) -> Result<()> {
        Ok(if commit { self.0.commit_transaction(PATIENCE) } else { self.0.abort_transaction(PATIENCE) }?)
    }
}

struct Member {
    consumer: Arc<BaseConsumer>,
    topic: String,
    leaving: Arc<AtomicBool>,
    polling: JoinHandle<()>,
}

impl library::Member for Member {
    async fn commit(&self, positions: &BTreeMap<i32, i64>) -> Result<()> {
        let mut offsets = TopicPartitionList::new();
        for (partition, offset) in positions {
            offsets.add_partition_offset(&self.topic, *partition, Offset::Offset(*offset))?;
        }
        Ok(self.consumer.commit(&offsets, CommitMode::Sync)?)
    }

    /// The last owner of the consumer leaves the group.
    async fn close(self) -> Result<()> {
        self.leaving.store(true, Ordering::Relaxed);
        self.polling.join().map_err(|_| "the polling thread panicked")?;
        Ok(())
    }
}

#[tokio::main]
async fn main() {
    program::run::<Rdkafka>().await
}
