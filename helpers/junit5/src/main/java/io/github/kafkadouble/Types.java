package io.github.kafkadouble;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** What the verbs return. What may be null says so; times are in milliseconds since the epoch. */
public final class Types {
    private Types() {}

    /** A record of a topic. The key and the value may be null. */
    public record TopicRecord(
            String topic, int partition, long offset, long timestamp, byte[] key, byte[] value, List<Header> headers) {
        /** The value as a text in UTF-8; null for a record without a value. */
        public String text() {
            return value == null ? null : new String(value, StandardCharsets.UTF_8);
        }
    }

    /** A header of a record. */
    public record Header(String key, byte[] value) {}

    /** Names a partition. */
    public record TopicPartition(String topic, int partition) {}

    /**
     * A request of a client. Took is null while it waits; request and answer are in the form of
     * Kafka's own JSON, null if they are not kept.
     */
    public record Request(
            long number,
            long time,
            Long took,
            int broker,
            String clientId,
            String principal,
            String api,
            int version,
            int correlationId,
            String outcome,
            List<String> rules,
            List<String> errors,
            long size,
            Long answerSize,
            JsonObject request,
            JsonObject answer,
            String text) {}

    /** A topic with its partitions and the configs that were set. */
    public record TopicDescription(
            String name, String id, boolean isInternal, Map<Integer, PartitionState> partitions, Map<String, String> configs) {}

    /** A partition at one moment. What is null is not known: no broker that answers leads it. */
    public record PartitionState(
            String topic,
            int partition,
            Integer leader,
            int leaderEpoch,
            List<Integer> replicas,
            List<Integer> isr,
            Long startOffset,
            Long endOffset,
            Long highWatermark,
            Long lastStableOffset,
            Map<Integer, Long> epochs) {}

    /** A group. Offsets and lags are by topic and partition. */
    public record GroupDescription(
            String id,
            String type,
            String state,
            String protocol,
            List<Member> members,
            Map<String, Map<Integer, Offset>> offsets,
            Map<String, Map<Integer, Long>> lags) {}

    /** A member of a group. */
    public record Member(
            String id, String instanceId, String clientId, String host, List<TopicPartition> assignment) {}

    /** A committed offset. */
    public record Offset(long offset, String metadata) {}

    /** A transactional id and its latest transaction. */
    public record Transaction(
            String id,
            String state,
            long producerId,
            int producerEpoch,
            long timeoutMs,
            Long startedMs,
            List<TopicPartition> partitions) {}

    /** The cluster with its brokers. */
    public record ClusterDescription(
            String clusterId,
            int controllerId,
            String bootstrapServers,
            Map<Integer, BrokerDescription> brokers,
            long nowMs) {}

    /** A broker. Its state is running, paused, isolated or stopped. */
    public record BrokerDescription(int id, String address, String state, boolean isFenced) {}

    /** What a snapshot holds. */
    public record Snapshot(long topics, long records, long sizeBytes, long takenMs) {}

    /** A step of a scenario. */
    public record StepOutcome(double at, String verb, String state, String problem) {}

    /** A fault rule. Hits and spent are those of the moment when the verb returned. */
    public static final class Rule {
        private long id;
        private JsonElement rule;
        private long hits;
        private boolean spent;
        private transient Verbs verbs;

        Rule bound(Verbs to) {
            verbs = to;
            return this;
        }

        public long id() {
            return id;
        }

        /** The rule in the JSON form of a rule. */
        public JsonElement definition() {
            return rule;
        }

        public long hits() {
            return hits;
        }

        public boolean spent() {
            return spent;
        }

        /** Disarms the rule, and lets go on what it holds. It may be called again. */
        public void remove() {
            verbs.removeRule(id);
        }

        /** Returns once the rule was applied, as often as {@link Params#hits} says if it is given. */
        public void await(Param... params) {
            verbs.waitForRule(id, params);
        }
    }
}
