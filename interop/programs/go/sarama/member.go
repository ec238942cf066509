package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/IBM/sarama"

	"kafkadouble.test/programs/walk"
)

const pause = 200 * time.Millisecond // before it is tried again

// member of a group. The library calls it in goroutines of its own, one for each partition; what they are given waits in feed to be polled.
type member struct {
	group sarama.ConsumerGroup
	feed  chan delivered
	last  sarama.ConsumerGroupSession
	leave context.CancelFunc
	ended chan error
}

type delivered struct {
	message *sarama.ConsumerMessage
	session sarama.ConsumerGroupSession
}

func (c client) Join(_ context.Context, topic, group string) (walk.Member, error) {
	it, err := sarama.NewConsumerGroup(c.bootstrap, group, config())
	if err != nil {
		return nil, err
	}
	ctx, leave := context.WithCancel(context.Background())
	m := &member{group: it, feed: make(chan delivered), leave: leave, ended: make(chan error, 1)}
	go func() { m.ended <- m.consume(ctx, topic) }()
	return m, nil
}

// consume serves one generation of the group after another. The library gives up when it finds no coordinator; its users call it again.
func (m *member) consume(ctx context.Context, topic string) error {
	for ctx.Err() == nil {
		if err := m.group.Consume(ctx, []string{topic}, m); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, err)
			time.Sleep(pause)
		}
	}
	return nil
}

func (m *member) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (m *member) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (m *member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		select {
		case m.feed <- delivered{message, session}:
		case <-session.Context().Done():
			return nil
		}
	}
	return nil
}

func (m *member) Poll(ctx context.Context) ([]walk.Record, error) {
	select {
	case one := <-m.feed:
		one.session.MarkMessage(one.message, "")
		m.last = one.session
		return []walk.Record{received(one.message)}, nil
	case err := <-m.ended:
		m.ended <- err
		return nil, errors.Join(err, errors.New("the member has ended"))
	case <-time.After(100 * time.Millisecond):
	case <-ctx.Done():
	}
	return nil, nil
}

// Commit what is marked; the library tells no error of it, so that the walk asks the offsets back.
func (m *member) Commit(context.Context) error {
	m.last.Commit()
	return nil
}

func (m *member) Close() error {
	m.leave()
	err := <-m.ended
	m.ended <- err
	return errors.Join(err, m.group.Close())
}
