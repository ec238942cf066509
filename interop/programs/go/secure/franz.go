package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// throttled remembers the longest time that a broker has asked for.
type throttled struct{ ms atomic.Int64 }

func (t *throttled) OnBrokerThrottle(_ kgo.BrokerMetadata, time time.Duration, _ bool) {
	t.ms.Store(max(t.ms.Load(), time.Milliseconds()))
}

func franz(ctx context.Context, a attempt) (float64, error) {
	hook := &throttled{}
	options := []kgo.Opt{kgo.SeedBrokers(a.bootstrap), kgo.DefaultProduceTopic(a.topic), kgo.WithHooks(hook),
		kgo.ProducerBatchCompression(kgo.NoCompression())}
	if a.hasTLS() {
		config, err := a.tls()
		if err != nil {
			return -1, err
		}
		options = append(options, kgo.DialTLSConfig(config))
	}
	if a.hasSASL() {
		mechanism, err := franzMechanism(a)
		if err != nil {
			return -1, err
		}
		options = append(options, kgo.SASL(mechanism))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return -1, err
	}
	defer client.Close()
	if err := client.Ping(ctx); err != nil { // a producer tries again after a refusal, until its records expire
		return 0, err
	}
	for range a.count {
		if err := client.ProduceSync(ctx, &kgo.Record{Value: a.value()}).FirstErr(); err != nil {
			return float64(hook.ms.Load()), err
		}
	}
	return float64(hook.ms.Load()), nil
}

func franzMechanism(a attempt) (sasl.Mechanism, error) {
	switch a.mechanism {
	case "PLAIN":
		return plain.Auth{User: a.user, Pass: a.secret}.AsMechanism(), nil
	case "SCRAM-SHA-256":
		return scram.Auth{User: a.user, Pass: a.secret}.AsSha256Mechanism(), nil
	case "SCRAM-SHA-512":
		return scram.Auth{User: a.user, Pass: a.secret}.AsSha512Mechanism(), nil
	case "OAUTHBEARER":
		return oauth.Auth{Token: a.secret}.AsMechanism(), nil
	}
	return nil, fmt.Errorf("no mechanism %s", a.mechanism)
}
