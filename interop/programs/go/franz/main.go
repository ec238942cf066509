// franz walks with github.com/twmb/franz-go.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkadouble.test/programs/walk"
)

var codecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
}

type client struct {
	*kadm.Client
	bootstrap []string
}

func main() {
	walk.Main("franz-go", "github.com/twmb/franz-go", func(bootstrap []string) (walk.Client, error) {
		admin, err := kadm.NewOptClient(kgo.SeedBrokers(bootstrap...))
		return client{admin, bootstrap}, err
	})
}

func (c client) with(options ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append(options, kgo.SeedBrokers(c.bootstrap...))...)
}

func (c client) Create(ctx context.Context, topic string, partitions int) error {
	_, err := c.CreateTopic(ctx, int32(partitions), 1, nil, topic)
	if errors.Is(err, kerr.TopicAlreadyExists) {
		return walk.ErrExists
	}
	return err
}

func (c client) Partitions(ctx context.Context, topic string) (int, error) {
	found, err := c.ListTopics(ctx, topic)
	return len(found[topic].Partitions), err
}

func (c client) Produce(ctx context.Context, topic, codec string, records []walk.Record) error {
	producer, err := c.with(kgo.ProducerBatchCompression(codecs[codec]), kgo.ProducerLinger(20*time.Millisecond), kgo.DefaultProduceTopic(topic))
	if err != nil {
		return err
	}
	defer producer.Close()
	return producer.ProduceSync(ctx, sent(records)...).FirstErr()
}

type writer struct{ *kgo.Client }

// Writer is idempotent by the library's own default.
func (c client) Writer(topic string) (walk.Writer, error) {
	it, err := c.with(kgo.DefaultProduceTopic(topic), kgo.RequiredAcks(kgo.AllISRAcks()))
	return writer{it}, err
}

func (w writer) Write(ctx context.Context, records []walk.Record) error {
	return w.ProduceSync(ctx, sent(records)...).FirstErr()
}

func (w writer) Close() error {
	w.Client.Close()
	return nil
}

func sent(records []walk.Record) []*kgo.Record {
	var made []*kgo.Record
	for _, one := range records {
		record := &kgo.Record{Key: one.Key, Value: one.Value}
		for _, h := range one.Headers {
			record.Headers = append(record.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
		}
		made = append(made, record)
	}
	return made
}

func received(fetches kgo.Fetches) []walk.Record {
	var found []walk.Record
	fetches.EachRecord(func(record *kgo.Record) {
		one := walk.Record{Key: record.Key, Value: record.Value, Partition: record.Partition, Offset: record.Offset}
		for _, h := range record.Headers {
			one.Headers = append(one.Headers, walk.Header{Key: h.Key, Value: h.Value})
		}
		found = append(found, one)
	})
	return found
}

type member struct{ *kgo.Client }

// isServerSide says whether members use the consumer protocol (KIP-848).
func isServerSide() bool { return os.Getenv("GROUP_PROTOCOL") == "consumer" }

func (c client) Join(_ context.Context, topic, group string) (walk.Member, error) {
	options := []kgo.Opt{kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit(),
		kgo.HeartbeatInterval(200 * time.Millisecond), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())}
	if isServerSide() {
		options = append(options, kgo.ServerSideBalancer())
	}
	it, err := c.with(options...)
	return member{it}, err
}

func (m member) Poll(ctx context.Context) ([]walk.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	fetches := m.PollFetches(ctx)
	if err := fetches.Err(); err != nil && !errors.Is(err, ctx.Err()) {
		return nil, err
	}
	return received(fetches), nil
}

func (m member) Commit(ctx context.Context) error { return m.CommitUncommittedOffsets(ctx) }

func (m member) Close() error {
	m.Client.Close()
	return nil
}

func (c client) Members(ctx context.Context, topic, group string) ([][]int32, error) {
	if isServerSide() {
		return c.assigned(ctx, group)
	}
	described, err := c.DescribeGroups(ctx, group)
	if err != nil {
		return nil, err
	}
	var found [][]int32
	for _, one := range described[group].Members {
		assigned, _ := one.Assigned.AsConsumer()
		var mine []int32
		for _, of := range assigned.Topics {
			mine = append(mine, of.Partitions...)
		}
		found = append(found, mine)
	}
	return found, described[group].Err
}

// assigned are the partitions of the members of a group with the consumer protocol.
func (c client) assigned(ctx context.Context, group string) ([][]int32, error) {
	described, err := c.DescribeConsumerGroups(ctx, group)
	if err != nil {
		return nil, err
	}
	var found [][]int32
	for _, one := range described[group].Members {
		var mine []int32
		one.Assignment.Each(func(_ string, partition int32) { mine = append(mine, partition) })
		found = append(found, mine)
	}
	return found, described[group].Err
}

func (c client) Committed(ctx context.Context, topic, group string, _ int) (sum int64, err error) {
	found, err := c.FetchOffsets(ctx, group)
	found.Each(func(one kadm.OffsetResponse) { sum += one.At })
	return sum, err
}

func (c client) OffsetAt(ctx context.Context, topic string, partition int32, ms int64) (int64, error) {
	found, err := c.ListOffsetsAfterMilli(ctx, ms, topic)
	if err != nil {
		return 0, err
	}
	one, there := found.Lookup(topic, partition)
	if !there {
		return 0, fmt.Errorf("no answer for partition %d", partition)
	}
	return one.Offset, one.Err
}

type transaction struct{ *kgo.Client }

func (c client) Begin(_ context.Context, topic, id string, timeout time.Duration) (walk.Transaction, error) {
	it, err := c.with(kgo.TransactionalID(id), kgo.TransactionTimeout(timeout), kgo.DefaultProduceTopic(topic))
	if err != nil {
		return nil, err
	}
	return transaction{it}, it.BeginTransaction()
}

func (t transaction) Send(ctx context.Context, records []walk.Record) error {
	return t.ProduceSync(ctx, sent(records)...).FirstErr()
}

func (t transaction) End(ctx context.Context, commit bool) error {
	defer t.Close()
	return t.EndTransaction(ctx, kgo.TransactionEndTry(commit))
}

// TransactOffset reads one record in a session, which commits the offset after it.
func (c client) TransactOffset(ctx context.Context, topic, group string, commit bool) error {
	session, err := kgo.NewGroupTransactSession(kgo.SeedBrokers(c.bootstrap...), kgo.TransactionalID(group), kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.RequireStableFetchOffsets())
	if err != nil {
		return err
	}
	defer session.Close()
	if err := session.PollRecords(ctx, 1).Err(); err != nil {
		return err
	}
	if err := session.Begin(); err != nil {
		return err
	}
	committed, err := session.End(ctx, kgo.TransactionEndTry(commit))
	if err == nil && committed != commit {
		return fmt.Errorf("committed: %t", committed)
	}
	return err
}

func (c client) ReadCommitted(ctx context.Context, topic string, count int) ([]walk.Record, error) {
	reader, err := c.with(kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	var found []walk.Record
	for len(found) < count {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return nil, err
		}
		found = append(found, received(fetches)...)
	}
	return found, nil
}
