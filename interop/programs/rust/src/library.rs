//! What a library does for the programs, in its own idiom and with no retries beside its own.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::promise::{Delivered, Record};
use crate::Result;

#[allow(async_fn_in_trait)] // used by these programs alone, on one task
pub trait Library: Sized {
    const NAME: &'static str;
    const VERSION: &'static str;
    /// It can send a header without a value.
    const NULL_HEADERS: bool;
    /// It has consumer groups; without them what is asked of a group is never called.
    const GROUPS: bool;

    type Member: Member;
    type Writer: Writer;
    type Transactional: Transactional<Self::Member>;

    /// `bootstrap` has commas between its addresses.
    async fn open(bootstrap: &str) -> Result<Self>;

    /// False if it was there.
    async fn create_topic(&self, topic: &str, partitions: i32) -> Result<bool>;
    async fn partitions(&self, topic: &str) -> Result<usize>;
    async fn produce(&self, topic: &str, codec: &str, records: &[Record]) -> Result<()>;

    /// A producer that lasts, idempotent where the library has that.
    async fn writer(&self, topic: &str) -> Result<Self::Writer>;

    /// A member of the group, from the beginning where nothing is committed.
    async fn consume(&self, group: &str, topic: &str, deliver: impl Deliver) -> Result<Self::Member>;

    /// The first offset from that time on, in ms since the epoch; the end or negative if there is none.
    async fn offset_at(&self, topic: &str, partition: i32, time: i64) -> Result<i64>;

    /// The number of partitions of each member.
    async fn members(&self, _group: &str) -> Result<Vec<usize>> {
        unimplemented!("no groups")
    }

    /// The committed offset of each partition.
    async fn committed(&self, _group: &str, _topic: &str) -> Result<Vec<i64>> {
        unimplemented!("no groups")
    }

    /// A producer with this transactional id, initialized, and the timeout of its transactions.
    async fn transactional(&self, _id: &str, _timeout: Duration) -> Result<Self::Transactional> {
        unimplemented!("no transactions")
    }
}

#[allow(async_fn_in_trait)]
pub trait Member {
    async fn commit(&self, positions: &BTreeMap<i32, i64>) -> Result<()>;
    async fn close(self) -> Result<()>;
}

#[allow(async_fn_in_trait)]
pub trait Writer {
    async fn send(&mut self, records: &[Record]) -> Result<()>;
}

#[allow(async_fn_in_trait)]
pub trait Transactional<M> {
    fn begin(&self) -> Result<()>;
    async fn send(&self, topic: &str, records: &[Record]) -> Result<()>;

    /// Commits an offset of partition 0 for the member's group with the transaction.
    fn send_offset(&self, member: &M, topic: &str, offset: i64) -> Result<()>;

    fn end(&self, commit: bool) -> Result<()>;
}

/// For a library that has no transactions.
pub enum NoTransactions {}

impl<M> Transactional<M> for NoTransactions {
    fn begin(&self) -> Result<()> {
        match *self {}
    }

    async fn send(&self, _topic: &str, _records: &[Record]) -> Result<()> {
        match *self {}
    }

    fn send_offset(&self, _member: &M, _topic: &str, _offset: i64) -> Result<()> {
        match *self {}
    }

    fn end(&self, _commit: bool) -> Result<()> {
        match *self {}
    }
}

pub trait Deliver: Fn(Delivered) + Clone + Send + 'static {}
impl<F: Fn(Delivered) + Clone + Send + 'static> Deliver for F {}
