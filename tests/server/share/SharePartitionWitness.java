// Runs Apache Kafka's own SharePartition: one operation per line of stdin, and one answer per line of stdout, both JSON.
// Run by the tests as a single-file program, with Kafka's jars on the class path.
//
// "begin" makes a share partition from what the share coordinator kept; the other operations change it. An answer has the
// outcome of the operation, the offsets of the share partition, and the state of every offset in flight.

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.*;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import kafka.server.share.SharePartition;
import org.apache.kafka.clients.consumer.internals.ShareAcquireMode;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfigProvider;
import org.apache.kafka.server.share.acknowledge.ShareAcknowledgementBatch;
import org.apache.kafka.server.share.dlq.NoOpShareGroupDLQManager;
import org.apache.kafka.server.share.fetch.*;
import org.apache.kafka.server.share.persister.*;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.storage.log.FetchPartitionData;
import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.server.util.timer.TimerTaskEntry;

public class SharePartitionWitness extends JsonWitness {
    static final TopicIdPartition PARTITION = new TopicIdPartition(new Uuid(7, 7), new TopicPartition("t", 0));
    static long now;
    static boolean writesFail;
    static JsonNode begun;
    static SharePartition partition;

    // A timer whose tasks run when a step lets time pass.

    static class StepTimer implements Timer {
        final List<TimerTaskEntry> entries = new ArrayList<>();

        public void add(TimerTask task) {
            entries.add(new TimerTaskEntry(task, now + task.delayMs));
        }

        public boolean advanceClock(long ms) {
            List<TimerTaskEntry> due = new ArrayList<>(entries.stream().filter(each -> each.expirationMs <= now).toList());
            due.sort(Comparator.comparingLong(each -> each.expirationMs));
            entries.removeAll(due);
            for (TimerTaskEntry each : due) {
                if (!each.cancelled()) each.timerTask.run();
            }
            return !due.isEmpty();
        }

        public int size() {
            return entries.size();
        }

        public void close() { }
    }

    static StepTimer timer;

    static <T> T proxy(Class<T> type, java.lang.reflect.InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(SharePartitionWitness.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    public static void main(String[] args) throws Exception {
        run(SharePartitionWitness::answer);
    }

    static Object call(String name, Class<?>[] types, Object... given) throws Exception {
        Method method = SharePartition.class.getDeclaredMethod(name, types);
        method.setAccessible(true);
        return method.invoke(partition, given);
    }

    @SuppressWarnings("unchecked")
    static NavigableMap<Long, InFlightBatch> cached() throws Exception {
        return (NavigableMap<Long, InFlightBatch>) call("cachedState", new Class<?>[0]);
    }

    static Object answer(JsonNode q) throws Throwable {
        now = q.get("now").asLong();
        writesFail = q.path("fails").asBoolean();
        Object outcome = "";
        switch (q.get("op").asText()) {
            case "begin":
                begin(q);
                break;
            case "acquire":
                outcome = acquire(q);
                break;
            case "acknowledge":
                List<ShareAcknowledgementBatch> batches = new ArrayList<>();
                for (JsonNode each : q.get("batches")) {
                    List<Byte> types = new ArrayList<>();
                    each.get(2).forEach(type -> types.add((byte) type.asInt()));
                    batches.add(new ShareAcknowledgementBatch(each.get(0).asLong(), each.get(1).asLong(), types));
                }
                outcome = error(partition.acknowledge(q.get("member").asText(), batches));
                break;
            case "release":
                outcome = error(partition.releaseAcquiredRecords(q.get("member").asText()));
                break;
            case "log start":
                call("updateCacheAndOffsets", new Class<?>[] {long.class}, q.get("offset").asLong());
                break;
            default:
                timer.advanceClock(0);
        }
        return shown(outcome);
    }

    static String error(CompletableFuture<Void> done) {
        try {
            done.join();
            return "";
        } catch (Exception failure) {
            Throwable cause = failure.getCause() == null ? failure : failure.getCause();
            return Errors.forException(cause).name() + " " + cause.getMessage();
        }
    }

    static void begin(JsonNode q) throws Exception {
        begun = q;
        timer = new StepTimer();
        ShareGroupConfigProvider configs = new ShareGroupConfigProvider(null) {
            public int recordLockDurationMsOrDefault(String group, int value) {
                return begun.get("lock").asInt();
            }

            public int deliveryCountLimitOrDefault(String group, int value) {
                return begun.get("limit").asInt();
            }

            public int partitionMaxRecordLocksOrDefault(String group, int value) {
                return begun.get("most").asInt();
            }

            public boolean isRenewAcknowledgeEnabled(String group) {
                return true;
            }

            public Optional<String> errorsDLQTopicName(String group) {
                return Optional.empty();
            }
        };
        Time time = proxy(Time.class, (self, method, given) -> now);
        Persister persister = proxy(Persister.class, (self, method, given) ->
            method.getName().equals("readState") ? CompletableFuture.completedFuture(kept(q)) : CompletableFuture.completedFuture(written()));
        Constructor<?> made = Arrays.stream(SharePartition.class.getDeclaredConstructors())
            .filter(each -> each.getParameterCount() == 15).findFirst().orElseThrow();
        made.setAccessible(true);
        Consumer<DelayedShareFetchKey> wake = key -> { };
        Supplier<Boolean> noDlq = () -> false;
        partition = (SharePartition) made.newInstance("g", PARTITION, 0, 2000, 5, 30000, timer, time, persister, null, wake, configs,
            null, noDlq, new NoOpShareGroupDLQManager());
        partition.maybeInitialize().join();
    }

    static ReadShareGroupStateResult kept(JsonNode q) {
        List<PersisterStateBatch> batches = new ArrayList<>();
        for (JsonNode each : q.get("kept")) {
            batches.add(new PersisterStateBatch(each.get(0).asLong(), each.get(1).asLong(), (byte) each.get(2).asInt(), (short) each.get(3).asInt()));
        }
        return new ReadShareGroupStateResult.Builder().setTopicsData(List.of(new TopicData<>(PARTITION.topicId(), List.of(
            PartitionFactory.newPartitionAllData(0, 1, q.get("start").asLong(), (short) 0, null, batches))))).build();
    }

    static WriteShareGroupStateResult written() {
        short code = writesFail ? Errors.COORDINATOR_NOT_AVAILABLE.code() : 0;
        return new WriteShareGroupStateResult.Builder().setTopicsData(List.of(new TopicData<>(PARTITION.topicId(), List.of(
            PartitionFactory.newPartitionErrorData(0, code, writesFail ? "no" : null))))).build();
    }

    static Object acquire(JsonNode q) {
        List<byte[]> parts = new ArrayList<>();
        int size = 0;
        for (JsonNode each : q.get("batches")) {
            SimpleRecord[] records = new SimpleRecord[(int) (each.get(1).asLong() - each.get(0).asLong() + 1)];
            Arrays.setAll(records, index -> new SimpleRecord(new byte[1]));
            ByteBuffer made = MemoryRecords.withRecords(each.get(0).asLong(), Compression.NONE, records).buffer();
            byte[] bytes = new byte[made.remaining()];
            made.get(bytes);
            parts.add(bytes);
            size += bytes.length;
        }
        ByteBuffer all = ByteBuffer.allocate(size);
        parts.forEach(all::put);
        all.flip();
        FetchPartitionData data = new FetchPartitionData(Errors.NONE, 0, 0, MemoryRecords.readableRecords(all), Optional.empty(),
            OptionalLong.empty(), Optional.empty(), OptionalInt.empty(), false);
        ShareAcquireMode mode = ShareAcquireMode.forId((byte) q.get("mode").asInt());
        ShareAcquiredRecords got = partition.acquire(q.get("member").asText(), mode, q.get("size").asInt(), q.get("most").asInt(),
            q.get("offset").asLong(), data, FetchIsolation.HIGH_WATERMARK);
        List<Object> shown = new ArrayList<>();
        got.acquiredRecords().forEach(each -> shown.add(List.of(each.firstOffset(), each.lastOffset(), each.deliveryCount())));
        return shown;
    }

    static Object shown(Object outcome) throws Exception {
        List<Object> states = new ArrayList<>();
        for (InFlightBatch batch : cached().values()) {
            if (batch.offsetState() == null) {
                for (long offset = batch.firstOffset(); offset <= batch.lastOffset(); offset++) {
                    states.add(List.of(offset, batch.batchState().id, batch.batchDeliveryCount(), batch.batchMemberId()));
                }
            } else {
                batch.offsetState().forEach((offset, state) ->
                    states.add(List.of(offset, state.state().id, state.deliveryCount(), state.memberId())));
            }
        }
        Map<String, Object> answer = new TreeMap<>();
        answer.put("outcome", outcome);
        answer.put("states", states);
        answer.put("can acquire", call("canAcquireRecords", new Class<?>[0]));
        answer.put("next", partition.nextFetchOffset());
        answer.put("start", call("startOffset", new Class<?>[0]));
        answer.put("end", call("endOffset", new Class<?>[0]));
        answer.put("complete", call("deliveryCompleteCount", new Class<?>[0]));
        return answer;
    }
}
