package main

import (
	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
)

// names are what the libraries call the errors of brokers.
var names = []struct {
	err  error
	name string
}{
	{kerr.SaslAuthenticationFailed, "kerr.SaslAuthenticationFailed"},
	{kerr.TopicAuthorizationFailed, "kerr.TopicAuthorizationFailed"},
	{sarama.ErrSASLAuthenticationFailed, "sarama.ErrSASLAuthenticationFailed"},
	{sarama.ErrTopicAuthorizationFailed, "sarama.ErrTopicAuthorizationFailed"},
	{kafka.SASLAuthenticationFailed, "kafka.SASLAuthenticationFailed"},
	{kafka.TopicAuthorizationFailed, "kafka.TopicAuthorizationFailed"},
	{kafka.UnknownTopicOrPartition, "kafka.UnknownTopicOrPartition"},
}
