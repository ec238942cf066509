package main

import (
	"context"
	"hash"

	"crypto/sha256"
	"crypto/sha512"

	"github.com/IBM/sarama"
	"github.com/rcrowley/go-metrics"
	"github.com/xdg-go/scram"
)

// conversation is SCRAM, which sarama leaves to its users.
type conversation struct {
	*scram.ClientConversation
	hash func() hash.Hash
}

func (c *conversation) Begin(user, password, authzID string) error {
	client, err := scram.HashGeneratorFcn(c.hash).NewClient(user, password, authzID)
	if err == nil {
		c.ClientConversation = client.NewConversation()
	}
	return err
}

type token string

func (t token) Token() (*sarama.AccessToken, error) {
	return &sarama.AccessToken{Token: string(t)}, nil
}

func shopify(_ context.Context, a attempt) (float64, error) {
	c := sarama.NewConfig()
	c.Version = sarama.V3_6_0_0
	c.Producer.RequiredAcks = sarama.WaitForAll
	c.Producer.Return.Successes = true
	c.MetricRegistry = metrics.NewRegistry()
	if a.hasTLS() {
		config, err := a.tls()
		if err != nil {
			return -1, err
		}
		c.Net.TLS.Enable, c.Net.TLS.Config = true, config
	}
	if a.hasSASL() {
		c.Net.SASL.Enable, c.Net.SASL.Handshake = true, true
		c.Net.SASL.Mechanism = sarama.SASLMechanism(a.mechanism)
		c.Net.SASL.User, c.Net.SASL.Password = a.user, a.secret
		c.Net.SASL.TokenProvider = token(a.secret)
		hashes := map[string]func() hash.Hash{"SCRAM-SHA-256": sha256.New, "SCRAM-SHA-512": sha512.New}
		c.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &conversation{hash: hashes[a.mechanism]} }
	}
	producer, err := sarama.NewSyncProducer([]string{a.bootstrap}, c)
	if err != nil {
		return -1, err
	}
	defer producer.Close()
	for range a.count {
		if _, _, err = producer.SendMessage(&sarama.ProducerMessage{Topic: a.topic, Value: sarama.ByteEncoder(a.value())}); err != nil {
			break
		}
	}
	return longest(c.MetricRegistry), err
}

// longest is the longest time for which a broker has throttled the client.
func longest(registry metrics.Registry) float64 {
	found := int64(0)
	registry.Each(func(name string, one any) {
		if histogram, is := one.(metrics.Histogram); is && len(name) >= 16 && name[:16] == "throttle-time-in" {
			found = max(found, histogram.Max())
		}
	})
	return float64(found)
}
