package main

import (
	"context"
	"errors"

	"github.com/IBM/sarama"

	"kafkadouble.test/programs/walk"
)

func (c client) Transact(_ context.Context, topic string, commit bool, records []walk.Record) error {
	with := config()
	with.Producer.Idempotent = true
	with.Producer.Transaction.ID = topic
	with.Net.MaxOpenRequests = 1
	producer, err := sarama.NewSyncProducer(c.bootstrap, with)
	if err != nil {
		return err
	}
	end := producer.AbortTxn
	if commit {
		end = producer.CommitTxn
	}
	for _, step := range []func() error{producer.BeginTxn, func() error { return producer.SendMessages(sent(topic, records)) }, end} {
		if err := step(); err != nil {
			return errors.Join(err, producer.Close())
		}
	}
	return producer.Close()
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
