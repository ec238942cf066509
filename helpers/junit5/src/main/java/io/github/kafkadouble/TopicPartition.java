package io.github.kafkadouble;

/** Names a partition. */
public record TopicPartition(String topic, int partition) {}
