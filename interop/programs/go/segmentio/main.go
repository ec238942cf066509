// segmentio walks with github.com/segmentio/kafka-go.
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"kafkadouble.test/programs/walk"
)

var codecs = map[string]kafka.Compression{
	"none":   0,
	"gzip":   kafka.Gzip,
	"snappy": kafka.Snappy,
	"lz4":    kafka.Lz4,
	"zstd":   kafka.Zstd,
}

type client struct {
	*kafka.Client
	bootstrap []string
}

func main() {
	walk.Main("kafka-go", "github.com/segmentio/kafka-go", func(bootstrap []string) (walk.Client, error) {
		return client{&kafka.Client{Addr: kafka.TCP(bootstrap...)}, bootstrap}, nil
	})
}

func (c client) Create(ctx context.Context, topic string, partitions int) error {
	made, err := c.CreateTopics(ctx, &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: topic, NumPartitions: partitions, ReplicationFactor: 1}},
	})
	if err != nil {
		return err
	}
	if errors.Is(made.Errors[topic], kafka.TopicAlreadyExists) {
		return walk.ErrExists
	}
	return made.Errors[topic]
}

func (c client) Partitions(ctx context.Context, topic string) (int, error) {
	found, err := c.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return 0, err
	}
	return len(found.Topics[0].Partitions), nil
}

func (c client) Produce(ctx context.Context, topic, codec string, records []walk.Record) error {
	writer := c.writer(topic)
	writer.Compression = codecs[codec]
	return errors.Join(writer.Write(ctx, records), writer.Close())
}

// writer of the library; it has no idempotent one.
type writer struct{ *kafka.Writer }

func (c client) writer(topic string) writer {
	return writer{&kafka.Writer{Addr: kafka.TCP(c.bootstrap...), Topic: topic, Balancer: &kafka.Hash{}, BatchTimeout: 20 * time.Millisecond,
		RequiredAcks: kafka.RequireAll}}
}

func (c client) Writer(topic string) (walk.Writer, error) { return c.writer(topic), nil }

func (w writer) Write(ctx context.Context, records []walk.Record) error {
	var messages []kafka.Message
	for _, one := range records {
		message := kafka.Message{Key: one.Key, Value: one.Value}
		for _, h := range one.Headers {
			message.Headers = append(message.Headers, kafka.Header{Key: h.Key, Value: h.Value})
		}
		messages = append(messages, message)
	}
	return w.WriteMessages(ctx, messages...)
}

// member of a group; what it was given last of each partition is what it commits.
type member struct {
	*kafka.Reader
	last map[int]kafka.Message
}

func (c client) Join(_ context.Context, topic, group string) (walk.Member, error) {
	return &member{kafka.NewReader(kafka.ReaderConfig{Brokers: c.bootstrap, GroupID: group, Topic: topic, StartOffset: kafka.FirstOffset,
		MaxWait: 200 * time.Millisecond, HeartbeatInterval: 200 * time.Millisecond}), map[int]kafka.Message{}}, nil
}

func (m *member) Poll(ctx context.Context) ([]walk.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	message, err := m.FetchMessage(ctx)
	if err != nil {
		if ctx.Err() != nil {
			err = nil
		}
		return nil, err
	}
	m.last[message.Partition] = message
	one := walk.Record{Key: message.Key, Value: message.Value, Partition: int32(message.Partition), Offset: message.Offset}
	for _, h := range message.Headers {
		one.Headers = append(one.Headers, walk.Header{Key: h.Key, Value: h.Value})
	}
	return []walk.Record{one}, nil
}

func (m *member) Commit(ctx context.Context) error {
	var messages []kafka.Message
	for _, message := range m.last {
		messages = append(messages, message)
	}
	return m.CommitMessages(ctx, messages...)
}

func (c client) Members(ctx context.Context, topic, group string) ([][]int32, error) {
	described, err := c.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{group}})
	if err != nil {
		return nil, err
	}
	var found [][]int32
	for _, one := range described.Groups[0].Members {
		var mine []int32
		for _, of := range one.MemberAssignments.Topics {
			for _, partition := range of.Partitions {
				mine = append(mine, int32(partition))
			}
		}
		found = append(found, mine)
	}
	return found, described.Groups[0].Error
}

func (c client) Committed(ctx context.Context, topic, group string, partitions int) (sum int64, err error) {
	var numbers []int
	for partition := range partitions {
		numbers = append(numbers, partition)
	}
	found, err := c.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: numbers}})
	if err != nil {
		return 0, err
	}
	for _, one := range found.Topics[topic] {
		sum += max(one.CommittedOffset, 0) // -1 where nothing is committed
	}
	return sum, found.Error
}

func (c client) OffsetAt(ctx context.Context, topic string, partition int32, ms int64) (int64, error) {
	found, err := c.ListOffsets(ctx, &kafka.ListOffsetsRequest{
		Topics: map[string][]kafka.OffsetRequest{topic: {kafka.TimeOffsetOf(int(partition), time.UnixMilli(ms))}},
	})
	if err != nil {
		return 0, err
	}
	for offset := range found.Topics[topic][0].Offsets {
		return offset, found.Topics[topic][0].Error
	}
	return 0, fmt.Errorf("no offset in %+v", found.Topics[topic])
}

func (c client) Close() {}
