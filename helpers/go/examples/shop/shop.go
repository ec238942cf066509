// Package shop is a small service: it reads orders, and writes an invoice for each.
package shop

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Invoicing reads orders and writes invoices.
type Invoicing struct {
	client *kgo.Client
}

// NewInvoicing connects the service to the brokers.
func NewInvoicing(brokers ...string) (*Invoicing, error) {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(brokers...),
		kgo.ConsumerGroup("invoicing"),
		kgo.ConsumeTopics("orders"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
		kgo.MetadataMinAge(100*time.Millisecond), // a new leader is found sooner than after 5 seconds
	)
	if err != nil {
		return nil, err
	}
	return &Invoicing{client}, nil
}

// Run works until the context ends, or an error that the client does not retry.
func (s *Invoicing) Run(ctx context.Context) error {
	for {
		fetches := s.client.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err := fetches.Err0(); err != nil {
			return err
		}
		for _, order := range fetches.Records() {
			invoice := &kgo.Record{Topic: "invoices", Key: order.Key, Value: append([]byte("invoice for "), order.Value...)}
			if err := s.client.ProduceSync(ctx, invoice).FirstErr(); err != nil {
				return err
			}
		}
		if err := s.client.CommitUncommittedOffsets(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// Close leaves the group.
func (s *Invoicing) Close() {
	s.client.Close()
}
