package main

import (
	"context"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

func segmentio(ctx context.Context, a attempt) (float64, error) {
	transport := &kafka.Transport{}
	if a.hasTLS() {
		config, err := a.tls()
		if err != nil {
			return -1, err
		}
		transport.TLS = config
	}
	if a.hasSASL() {
		mechanism, err := segmentioMechanism(a)
		if err != nil {
			return -1, err
		}
		transport.SASL = mechanism
	}
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: kafka.TCP(a.bootstrap), Transport: transport, Timeout: patience}
	// without this, every failure to begin with is a topic that is not found
	known, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{a.topic}})
	if err == nil {
		err = known.Topics[0].Error
	}
	if err != nil {
		return 0, err
	}
	longest := time.Duration(0)
	for range a.count {
		answer, err := client.Produce(ctx, &kafka.ProduceRequest{
			Topic: a.topic, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(kafka.Record{Value: kafka.NewBytes(a.value())}),
		})
		if err == nil {
			longest = max(longest, answer.Throttle)
			err = answer.Error
		}
		if err != nil {
			return float64(longest.Milliseconds()), err
		}
	}
	return float64(longest.Milliseconds()), nil
}

func segmentioMechanism(a attempt) (sasl.Mechanism, error) {
	switch a.mechanism {
	case "PLAIN":
		return plain.Mechanism{Username: a.user, Password: a.secret}, nil
	case "SCRAM-SHA-256":
		return scram.Mechanism(scram.SHA256, a.user, a.secret)
	case "SCRAM-SHA-512":
		return scram.Mechanism(scram.SHA512, a.user, a.secret)
	}
	return nil, fmt.Errorf("no mechanism %s", a.mechanism)
}
