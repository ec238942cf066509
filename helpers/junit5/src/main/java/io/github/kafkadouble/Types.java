// Made by helpers/generate; do not edit.

package io.github.kafkadouble;

import com.google.gson.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** What the verbs return. What may be null says so; times are in milliseconds since the epoch. */
public final class Types {
    private Types() {}

    /**
     * A record as a consumer would get it. timestamp is in ms since the epoch, -1 for none.
     */
    public record TopicRecord(
            String topic,
            int partition,
            long offset,
            long timestamp,
            byte[] key,
            byte[] value,
            List<Header> headers) {
        /** The value as a text in UTF-8; null for a record without a value. */
        public String text() {
            return value == null ? null : new String(value, StandardCharsets.UTF_8);
        }
    }

    /**
     * One part of a request: the fields that do not apply are null. topic is its id as text if its
     * name is not known. error is the name of an error, or null.
     */
    public record RequestPart(
            String topic,
            Integer partition,
            String group,
            String transactionalId,
            String error) {}

    /**
     * A partition at one moment. leader, replicas and isr are ids of brokers; leader is null if
     * there is none. The rest is null if no broker that answers leads the partition: startOffset of
     * the log, endOffset (where the leader appends next), highWatermark (what consumers read up
     * to), lastStableOffset (with read_committed), and epochs, the leader epochs in the log, each
     * with its start offset, oldest first.
     */
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

    /**
     * A topic. configs are those that were set for it, partitions are by index.
     */
    public record TopicDescription(
            String name,
            String id,
            boolean isInternal,
            Map<Integer, PartitionState> partitions,
            Map<String, String> configs) {}

    /**
     * A committed offset. offset: the offset of the next record to read. metadata: the text that
     * the client stored with it.
     */
    public record Offset(
            long offset,
            String metadata) {}

    /**
     * A member of a group. id: the member id. instanceId: group.instance.id of a static member, or
     * null. clientId: client.id of its client. host: the address of its client. assignment: the
     * partitions that it has now, as pairs of a topic and a partition. epoch: its member epoch;
     * null in a classic group.
     */
    public record Member(
            String id,
            String instanceId,
            String clientId,
            String host,
            List<TopicPartition> assignment,
            Integer epoch) {}

    /**
     * A group. id: the group id. type: classic, consumer, share or streams. state: Kafka's name,
     * such as Stable or Empty. protocol: the name of its assignor; empty if it has none. members:
     * its members. offsets: the committed offsets by topic and partition; of a share group, the
     * start offsets of its share partitions. lags: how many offsets there are from the committed
     * offset to the high watermark, or from the log start offset without a commit, for each
     * partition that has a leader and a committed offset or a member. While no member has a
     * partition, other partitions of topics with a commit count, too, if they have records. Of a
     * share group, what is not delivered yet. epoch: the group epoch; null for a classic group.
     * assignmentEpoch: the epoch of the assignment; null for a classic group.
     */
    public record GroupDescription(
            String id,
            String type,
            String state,
            String protocol,
            List<Member> members,
            Map<String, Map<Integer, Offset>> offsets,
            Map<String, Map<Integer, Long>> lags,
            Integer epoch,
            Integer assignmentEpoch) {}

    /**
     * A transactional id and its latest transaction. id: the transactional id. state: Kafka's name,
     * such as Ongoing, CompleteCommit or Empty. producerId: the id of its latest producer.
     * producerEpoch: the epoch of this producer. timeoutMs: transaction.timeout.ms of this
     * producer. startedMs: when the open transaction began, in ms since the epoch; null if none is
     * open. partitions: the partitions that have no marker yet, as pairs of a topic and a
     * partition.
     */
    public record Transaction(
            String id,
            String state,
            long producerId,
            int producerEpoch,
            long timeoutMs,
            Long startedMs,
            List<TopicPartition> partitions) {}

    /**
     * A broker. address is HOST:PORT on its first listener. state is running, paused, isolated or
     * stopped. isFenced is what the controller's metadata say.
     */
    public record BrokerDescription(
            int id,
            String address,
            String state,
            boolean isFenced) {}

    /**
     * A cluster. controllerId is the node id of the controller, nowMs the time of its clock (ms
     * since the epoch).
     */
    public record ClusterDescription(
            String clusterId,
            int controllerId,
            String bootstrapServers,
            Map<Integer, BrokerDescription> brokers,
            long nowMs) {}

    /**
     * A step of a scenario: when it is called first, in seconds since the scenario was applied,
     * which verb, and its state: pending as long as calls are to come, done, or failed with the
     * error of the latest call that failed. calls is how many times it was called. A step that
     * waits for records is at 0.
     */
    public record StepOutcome(
            double at,
            String verb,
            String state,
            String problem,
            long calls) {}

    /**
     * The requests of one client, about one topic or group if the rule is about these.
     */
    public record LintCase(
            String clientId,
            String sentence) {}

    /**
     * A habit of clients. rule is a name in the table of rules; sentence says what the client did;
     * requests show it, oldest first. Where clients did the same with several topics or groups, or
     * several clients did the same, cases has each of them. clientId is null for several clients.
     */
    public record LintFinding(
            String rule,
            String clientId,
            String sentence,
            List<Request> requests,
            List<LintCase> cases) {}

    /**
     * A request that a client sent. took is in milliseconds, null while the request waits. request
     * and answer are in the form of Kafka's own JSON, null if they are not kept. Of the last
     * requests, without their contents, text is a line for a person; it is null elsewhere.
     */
    public record Request(
            long number,
            long time,
            Long took,
            int broker,
            String peer,
            String clientId,
            String principal,
            String api,
            int version,
            int correlationId,
            String outcome,
            List<String> rules,
            List<String> errors,
            List<RequestPart> parts,
            long size,
            Long answerSize,
            Long records,
            Long recordBytes,
            JsonObject request,
            JsonObject answer,
            String text) {}

    /**
     * What a snapshot holds, and the name by which the double keeps it. restore takes it back.
     */
    public record Snapshot(
            String name,
            long topics,
            long records,
            long sizeBytes,
            long takenMs) {}
}
