// sarama walks with github.com/IBM/sarama.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/IBM/sarama"

	"kafkadouble.test/programs/walk"
)

var codecs = map[string]sarama.CompressionCodec{
	"none":   sarama.CompressionNone,
	"gzip":   sarama.CompressionGZIP,
	"snappy": sarama.CompressionSnappy,
	"lz4":    sarama.CompressionLZ4,
	"zstd":   sarama.CompressionZSTD,
}

type client struct {
	sarama.ClusterAdmin
	itself    sarama.Client
	bootstrap []string
}

func main() {
	walk.Main("sarama", "github.com/IBM/sarama", func(bootstrap []string) (walk.Client, error) {
		itself, err := sarama.NewClient(bootstrap, config())
		if err != nil {
			return nil, err
		}
		admin, err := sarama.NewClusterAdminFromClient(itself)
		return client{admin, itself, bootstrap}, err
	})
}

// config names a version, since the default is so old that it has neither headers nor zstd.
func config() *sarama.Config {
	c := sarama.NewConfig()
	c.Version = sarama.V3_6_0_0
	c.Producer.RequiredAcks = sarama.WaitForAll
	c.Producer.Return.Successes = true
	c.Producer.Flush.Frequency = 20 * time.Millisecond
	c.Consumer.Offsets.Initial = sarama.OffsetOldest
	c.Consumer.Offsets.AutoCommit.Enable = false
	c.Consumer.Group.Heartbeat.Interval = 200 * time.Millisecond
	return c
}

func (c client) Create(_ context.Context, topic string, partitions int) error {
	err := c.CreateTopic(topic, &sarama.TopicDetail{NumPartitions: int32(partitions), ReplicationFactor: 1}, false)
	if errors.Is(err, sarama.ErrTopicAlreadyExists) {
		return walk.ErrExists
	}
	return err
}

func (c client) Partitions(_ context.Context, topic string) (int, error) {
	found, err := c.DescribeTopics([]string{topic})
	if err != nil {
		return 0, err
	}
	return len(found[0].Partitions), nil
}

func (c client) Produce(_ context.Context, topic, codec string, records []walk.Record) error {
	with := config()
	with.Producer.Compression = codecs[codec]
	producer, err := sarama.NewSyncProducer(c.bootstrap, with)
	if err != nil {
		return err
	}
	return errors.Join(producer.SendMessages(sent(topic, records)), producer.Close())
}

type writer struct {
	sarama.SyncProducer
	topic string
}

func (c client) Writer(topic string) (walk.Writer, error) {
	with := config()
	with.Producer.Idempotent = true
	with.Net.MaxOpenRequests = 1 // as it wants for that
	it, err := sarama.NewSyncProducer(c.bootstrap, with)
	return writer{it, topic}, err
}

func (w writer) Write(_ context.Context, records []walk.Record) error {
	return w.SendMessages(sent(w.topic, records))
}

func sent(topic string, records []walk.Record) []*sarama.ProducerMessage {
	var made []*sarama.ProducerMessage
	for _, one := range records {
		message := &sarama.ProducerMessage{Topic: topic, Value: sarama.ByteEncoder(one.Value)}
		if one.Key != nil {
			message.Key = sarama.ByteEncoder(one.Key)
		}
		for _, h := range one.Headers {
			message.Headers = append(message.Headers, sarama.RecordHeader{Key: []byte(h.Key), Value: h.Value})
		}
		made = append(made, message)
	}
	return made
}

func received(message *sarama.ConsumerMessage) walk.Record {
	one := walk.Record{Key: message.Key, Value: message.Value, Partition: message.Partition, Offset: message.Offset}
	for _, h := range message.Headers {
		one.Headers = append(one.Headers, walk.Header{Key: string(h.Key), Value: h.Value})
	}
	return one
}

func (c client) Members(_ context.Context, topic, group string) ([][]int32, error) {
	described, err := c.DescribeConsumerGroups([]string{group})
	if err != nil {
		return nil, err
	}
	var found [][]int32
	for _, one := range described[0].Members {
		var mine []int32
		if assigned, err := one.GetMemberAssignment(); err == nil && assigned != nil {
			mine = assigned.Topics[topic]
		}
		found = append(found, mine)
	}
	return found, nil
}

func (c client) Committed(_ context.Context, topic, group string, partitions int) (sum int64, err error) {
	var numbers []int32
	for partition := range partitions {
		numbers = append(numbers, int32(partition))
	}
	found, err := c.ListConsumerGroupOffsets(group, map[string][]int32{topic: numbers})
	if err != nil {
		return 0, err
	}
	for _, one := range found.Blocks[topic] {
		sum += max(one.Offset, 0) // -1 where nothing is committed
	}
	return sum, nil
}

func (c client) OffsetAt(_ context.Context, topic string, partition int32, ms int64) (int64, error) {
	return c.itself.GetOffset(topic, partition, ms)
}

func (c client) Close() { _ = c.ClusterAdmin.Close() } // the client with it
