package main

import (
	"context"
	"errors"
	"time"

	"github.com/IBM/sarama"

	"kafkadouble.test/programs/walk"
)

type transaction struct {
	sarama.SyncProducer
	topic string
}

func (c client) Begin(_ context.Context, topic, id string, timeout time.Duration) (walk.Transaction, error) {
	with := config()
	with.Producer.Idempotent = true
	with.Producer.Transaction.ID = id
	with.Producer.Transaction.Timeout = timeout
	with.Net.MaxOpenRequests = 1
	it, err := sarama.NewSyncProducer(c.bootstrap, with)
	if err != nil {
		return nil, err
	}
	return transaction{it, topic}, it.BeginTxn()
}

func (t transaction) Send(_ context.Context, records []walk.Record) error {
	return t.SendMessages(sent(t.topic, records))
}

func (t transaction) End(_ context.Context, commit bool) error {
	end := t.AbortTxn
	if commit {
		end = t.CommitTxn
	}
	return errors.Join(end(), t.Close())
}

func (c client) TransactOffset(ctx context.Context, topic, group string, commit bool) error {
	begun, err := c.Begin(ctx, topic, group, time.Minute)
	if err != nil {
		return err
	}
	offsets := map[string][]*sarama.PartitionOffsetMetadata{topic: {{Partition: 0, Offset: 1}}}
	if err := begun.(transaction).AddOffsetsToTxn(offsets, group); err != nil {
		return err
	}
	return begun.End(ctx, commit)
}

func (c client) ReadCommitted(ctx context.Context, topic string, count int) ([]walk.Record, error) {
	with := config()
	with.Consumer.IsolationLevel = sarama.ReadCommitted
	consumer, err := sarama.NewConsumer(c.bootstrap, with)
	if err != nil {
		return nil, err
	}
	defer consumer.Close()
	partition, err := consumer.ConsumePartition(topic, 0, sarama.OffsetOldest)
	if err != nil {
		return nil, err
	}
	defer partition.Close()
	var found []walk.Record
	for len(found) < count {
		select {
		case message := <-partition.Messages():
			found = append(found, received(message))
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return found, nil
}
