// Asks Apache Kafka's own transaction coordinator about one step of one transactional id. One question per line of stdin, one
// answer per line of stdout, both JSON. Run by the tests as a single-file program, with Kafka's jars on the class path.
//
// A question holds the whole state of the id, so that the answers depend on nothing else. Requests are decided by the functions
// that TransactionCoordinator calls under the lock of the id; these are private, and the names are those of 4.4.0.

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.*;
import kafka.coordinator.transaction.TransactionCoordinator;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.common.utils.internals.ProducerIdAndEpoch;
import org.apache.kafka.coordinator.transaction.*;
import org.apache.kafka.server.common.TransactionVersion;
import scala.Tuple2;
import scala.util.Either;

public class TransactionWitness extends JsonWitness {
    static long now, nextProducerId;
    static final Time TIME = (Time) Proxy.newProxyInstance(
        TransactionWitness.class.getClassLoader(), new Class<?>[] {Time.class}, (self, method, args) -> now);
    static final ProducerIdManager IDS = () -> {
        if (nextProducerId < 0) throw Errors.COORDINATOR_LOAD_IN_PROGRESS.exception();
        return nextProducerId;
    };
    static final TransactionCoordinator COORDINATOR = new TransactionCoordinator(
        new TransactionConfig(), null, new scala.runtime.AbstractFunction0<>() {
            public ProducerIdManager apply() { return IDS; }
        }, null, null, TIME, new LogContext());

    public static void main(String[] args) throws Exception {
        run(TransactionWitness::answer);
    }

    static Object answer(JsonNode q) throws Throwable {
        switch (q.get("op").asText()) {
            case "states": return states();
            case "write": return write(q);
            case "read": return read(q);
            default: return step(q);
        }
    }

    static Object states() {
        Map<String, Object> states = new TreeMap<>();
        for (TransactionState state : TransactionState.values()) {
            Set<String> previous = new TreeSet<>();
            state.validPreviousStates().forEach(each -> previous.add(each.stateName()));
            states.put(state.stateName(), List.of(state.id(), state.isExpirationAllowed(), previous));
        }
        return states;
    }

    // One step. The answer: "outcome" is the next state, or an error code, or what became of each partition; "metadata" is the
    // state in memory; "completed" is the state in memory when the next one is written.

    static Object step(JsonNode q) throws Throwable {
        TransactionMetadata metadata = metadata(q.get("metadata"));
        metadata.pendingState(Optional.ofNullable(q.get("pending").textValue()).flatMap(TransactionState::fromName));
        metadata.hasFailedEpochFence(q.get("fence_failed").asBoolean());
        now = q.get("now").asLong();
        nextProducerId = q.get("next_producer_id").asLong();
        Map<String, Object> answer = new TreeMap<>();
        Object outcome;
        try {
            outcome = outcome(q, metadata);
        } catch (Throwable problem) {
            outcome = Errors.forException(problem);
        }
        answer.put("metadata", fields(metadata.prepareNoTransit()));
        answer.put("outcome", shown(outcome));
        if (outcome instanceof TxnTransitMetadata next && next.txnState() != TransactionState.DEAD
            && next.txnState() != TransactionState.PREPARE_EPOCH_FENCE) {
            metadata.completeTransitionTo(next);
            answer.put("completed", fields(metadata.prepareNoTransit()));
        }
        return answer;
    }

    static Object shown(Object outcome) {
        if (outcome instanceof TxnTransitMetadata next) return fields(next);
        if (outcome instanceof Errors error) return (int) error.code();
        List<Object> rows = new ArrayList<>();
        ((Map<?, ?>) outcome).forEach((at, error) -> rows.add(List.of(
            ((TopicPartition) at).topic(), ((TopicPartition) at).partition(), (int) ((Errors) error).code())));
        return rows;
    }

    static Object outcome(JsonNode q, TransactionMetadata metadata) throws Throwable {
        long producerId = q.path("producer_id").asLong();
        short epoch = (short) q.path("producer_epoch").asInt(), version = (short) q.path("version").asInt();
        switch (q.get("op").asText()) {
            case "increment":
                return metadata.prepareIncrementProducerEpoch(q.get("timeout_ms").asInt(), expectedEpoch(q), now);
            case "rotate":
                return metadata.prepareProducerIdRotation(
                    nextProducerId, q.get("timeout_ms").asInt(), now, q.get("keep_last_epoch").asBoolean());
            case "prepare_fence": return metadata.prepareFenceProducerEpoch();
            case "prepare_add": return metadata.prepareAddPartitions(partitions(q.get("partitions")), now, level(version));
            case "prepare_end":
                return metadata.prepareAbortOrCommit(TransactionState.fromName(q.get("state").asText()).get(), level(version),
                    nextProducerId, now, q.get("no_partition_added").asBoolean());
            case "complete": return metadata.prepareComplete(now);
            case "dead": return metadata.prepareDead();
            case "init": return either(call("prepareInitProducerIdTransit", "t", q.get("timeout_ms").asInt(), 1, metadata,
                scala.Option.apply(q.get("expected").asBoolean() ? new ProducerIdAndEpoch(producerId, epoch) : null)));
            case "add": return either(call("$anonfun$handleAddPartitionsToTransaction$3", COORDINATOR, metadata, producerId, epoch,
                partitions(q.get("partitions")), 1, level(version)));
            case "verify": return either(call(
                "$anonfun$handleVerifyPartitionsInTransaction$4", metadata, producerId, epoch, partitions(q.get("partitions"))));
            case "end": return end(metadata, producerId, epoch, true, q.get("committed").asBoolean(), version);
            case "fence":
                TxnTransitMetadata fence = metadata.prepareFenceProducerEpoch();
                return end(metadata, fence.producerId(), fence.producerEpoch(), false, false, version);
            default: throw new IllegalArgumentException("what?");
        }
    }

    static Object end(TransactionMetadata metadata, long producerId, short epoch, boolean client, boolean committed, short version)
            throws Throwable {
        TransactionResult result = TransactionResult.forId(committed);
        scala.runtime.BooleanRef fences = scala.runtime.BooleanRef.create(false);
        if (!level(version).supportsEpochBump())
            return either(call("$anonfun$endTransactionWithTV1$2", COORDINATOR, metadata, producerId, client, epoch, result, fences,
                1, "t"));
        return either(call("$anonfun$endTransaction$2", COORDINATOR, scala.runtime.LongRef.create(-1), metadata,
            scala.runtime.ShortRef.create((short) -1), fences, producerId, epoch, client, 1, level(version), result, "t"));
    }

    static Object either(Object decided) {
        if (((Either<?, ?>) decided).isLeft()) return ((Either<?, ?>) decided).left().toOption().get();
        Object right = ((Either<?, ?>) decided).toOption().get();
        return right instanceof Tuple2<?, ?> pair ? pair._2() : right;
    }

    static Object call(String name, Object... args) throws Throwable {
        for (Method method : TransactionCoordinator.class.getDeclaredMethods()) {
            if (!method.getName().equals(name) || method.getParameterCount() != args.length) continue;
            method.setAccessible(true);
            try {
                return method.invoke(COORDINATOR, args);
            } catch (InvocationTargetException problem) {
                throw problem.getCause();
            }
        }
        throw new NoSuchMethodError(name);
    }

    // Records.

    static Object write(JsonNode q) throws Exception {
        TxnTransitMetadata next = metadata(q.get("metadata")).prepareNoTransit();
        byte[] value = TransactionLog.valueToBytes(next, level((short) q.get("version").asInt()));
        return Map.of("key", hex(TransactionLog.keyToBytes(q.get("transactional_id").asText())), "value", hex(value));
    }

    static Object read(JsonNode q) {
        Object read = TransactionLog.read(bytes(q.get("key")), q.get("value").isNull() ? null : bytes(q.get("value")));
        if (read instanceof TransactionLog.TxnTombstone tombstone) return Map.of("tombstone", tombstone.transactionId());
        TransactionLog.TxnRecord record = (TransactionLog.TxnRecord) read;
        return Map.of("transactional_id", record.transactionId(), "metadata", fields(record.metadata().prepareNoTransit()));
    }

    static String hex(byte[] bytes) { return HexFormat.of().formatHex(bytes); }

    static ByteBuffer bytes(JsonNode hex) { return ByteBuffer.wrap(HexFormat.of().parseHex(hex.asText())); }

    // JSON and Kafka's classes.

    static TransactionVersion level(short version) { return TransactionVersion.fromFeatureLevel(version); }

    static Optional<Short> expectedEpoch(JsonNode q) {
        return q.get("expected").asBoolean() ? Optional.of((short) q.get("producer_epoch").asInt()) : Optional.empty();
    }

    static Set<TopicPartition> partitions(JsonNode node) {
        Set<TopicPartition> partitions = new HashSet<>();
        node.forEach(each -> partitions.add(new TopicPartition(each.get(0).asText(), each.get(1).asInt())));
        return partitions;
    }

    static TransactionMetadata metadata(JsonNode of) {
        return new TransactionMetadata("t", of.get("producer_id").asLong(), of.get("previous_producer_id").asLong(),
            of.get("next_producer_id").asLong(), (short) of.get("producer_epoch").asInt(),
            (short) of.get("last_producer_epoch").asInt(), of.get("txn_timeout_ms").asInt(),
            TransactionState.fromName(of.get("state").asText()).get(), partitions(of.get("topic_partitions")),
            of.get("txn_start_timestamp").asLong(), of.get("txn_last_update_timestamp").asLong(),
            level((short) of.get("client_transaction_version").asInt()));
    }

    static Map<String, Object> fields(TxnTransitMetadata of) {
        Map<String, Object> fields = new TreeMap<>();
        fields.put("producer_id", of.producerId());
        fields.put("previous_producer_id", of.prevProducerId());
        fields.put("next_producer_id", of.nextProducerId());
        fields.put("producer_epoch", (int) of.producerEpoch());
        fields.put("last_producer_epoch", (int) of.lastProducerEpoch());
        fields.put("txn_timeout_ms", of.txnTimeoutMs());
        fields.put("state", of.txnState().stateName());
        List<List<Object>> partitions = new ArrayList<>();
        of.topicPartitions().forEach(each -> partitions.add(List.of(each.topic(), each.partition())));
        fields.put("topic_partitions", partitions);
        fields.put("txn_start_timestamp", of.txnStartTimestamp());
        fields.put("txn_last_update_timestamp", of.txnLastUpdateTimestamp());
        fields.put("client_transaction_version", (int) of.clientTransactionVersion().featureLevel());
        return fields;
    }
}
