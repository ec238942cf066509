// Runs Apache Kafka's own share coordinator shard: one operation per line of stdin, and one answer per line of stdout, both JSON.
// Run by the tests as a single-file program, with Kafka's jars on the class path.
//
// "begin" makes an empty shard with topics; the other operations change it. The records of an operation are replayed at once, and
// an answer has them as bytes, with the response in Kafka's JSON.

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Proxy;
import java.util.*;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.message.*;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.coordinator.common.runtime.*;
import org.apache.kafka.coordinator.share.*;
import org.apache.kafka.coordinator.share.metrics.ShareCoordinatorMetrics;
import org.apache.kafka.timeline.SnapshotRegistry;

public class ShareCoordinatorWitness extends JsonWitness {
    static final ShareCoordinatorRecordSerde SERDE = new ShareCoordinatorRecordSerde();
    static long now, offset;
    static final Time TIME = (Time) Proxy.newProxyInstance(
        ShareCoordinatorWitness.class.getClassLoader(), new Class<?>[] {Time.class}, (self, method, args) -> now);
    static final Map<Uuid, Integer> TOPICS = new HashMap<>();
    static final CoordinatorMetadataImage IMAGE = (CoordinatorMetadataImage) Proxy.newProxyInstance(
        ShareCoordinatorWitness.class.getClassLoader(), new Class<?>[] {CoordinatorMetadataImage.class},
        (self, method, args) -> Optional.ofNullable(TOPICS.get(args[0])).map(ShareCoordinatorWitness::topic));
    static ShareCoordinatorShard shard;

    static CoordinatorMetadataImage.TopicMetadata topic(int partitions) {
        return (CoordinatorMetadataImage.TopicMetadata) Proxy.newProxyInstance(
            ShareCoordinatorWitness.class.getClassLoader(), new Class<?>[] {CoordinatorMetadataImage.TopicMetadata.class},
            (self, method, args) -> method.getName().equals("partitionCount") ? (Object) partitions : "t");
    }

    public static void main(String[] args) throws Exception {
        run(ShareCoordinatorWitness::answer);
    }

    static Object answer(JsonNode q) throws Throwable {
        now = q.get("now").asLong();
        JsonNode request = q.get("request");
        switch (q.get("op").asText()) {
            case "begin":
                return begin(q);
            case "InitializeShareGroupState": {
                var result = shard.initializeState(InitializeShareGroupStateRequestDataJsonConverter.read(request, (short) 0));
                return applied(result, InitializeShareGroupStateResponseDataJsonConverter.write(result.response(), (short) 0));
            }
            case "ReadShareGroupState": {
                var result = shard.readStateAndMaybeUpdateLeaderEpoch(ReadShareGroupStateRequestDataJsonConverter.read(request, (short) 0));
                return applied(result, ReadShareGroupStateResponseDataJsonConverter.write(result.response(), (short) 0));
            }
            case "WriteShareGroupState": {
                var result = shard.writeState(WriteShareGroupStateRequestDataJsonConverter.read(request, (short) 1));
                return applied(result, WriteShareGroupStateResponseDataJsonConverter.write(result.response(), (short) 1));
            }
            case "DeleteShareGroupState": {
                var result = shard.deleteState(DeleteShareGroupStateRequestDataJsonConverter.read(request, (short) 0));
                return applied(result, DeleteShareGroupStateResponseDataJsonConverter.write(result.response(), (short) 0));
            }
            case "ReadShareGroupStateSummary": {
                var result = shard.readStateSummary(ReadShareGroupStateSummaryRequestDataJsonConverter.read(request, (short) 1));
                return applied(result, ReadShareGroupStateSummaryResponseDataJsonConverter.write(result.response(), (short) 1));
            }
            case "cold":
                return applied(shard.snapshotColdPartitions(), null, q.get("order"));
            case "redundant":
                return Map.of("redundant", shard.lastRedundantOffset().response().orElse(-1L));
            default:
                TOPICS.remove(Uuid.fromString(q.get("topic").asText()));
                return applied(shard.maybeCleanupShareState(Set.of(Uuid.fromString(q.get("topic").asText()))), null, q.get("order"));
        }
    }

    static String key(CoordinatorRecord record) {
        return HexFormat.of().formatHex(SERDE.serializeKey(record));
    }

    static Object begin(JsonNode q) throws Exception {
        AbstractConfig config = new AbstractConfig(ShareCoordinatorConfig.CONFIG_DEF, Map.of(
            "share.coordinator.snapshot.update.records.per.snapshot", q.get("updates").asInt()));
        TOPICS.clear();
        q.get("topics").fields().forEachRemaining(each -> TOPICS.put(Uuid.fromString(each.getKey()), each.getValue().asInt()));
        shard = new ShareCoordinatorShard.Builder(new ShareCoordinatorConfig(config)).withTime(TIME)
            .withSnapshotRegistry(new SnapshotRegistry(new LogContext())).withLogContext(new LogContext())
            .withCoordinatorMetrics(new ShareCoordinatorMetrics(new org.apache.kafka.common.metrics.Metrics()))
            .withTopicPartition(new org.apache.kafka.common.TopicPartition("__share_group_state", 0)).build();
        shard.onLoaded(IMAGE);
        offset = 0;
        return Map.of();
    }

    static Object applied(CoordinatorResult<?, CoordinatorRecord> result, JsonNode response) {
        return applied(result, response, JSON.createArrayNode());
    }

    // Kafka iterates over a hash table: where several records are written, "order" has their keys in our order.

    static Object applied(CoordinatorResult<?, CoordinatorRecord> result, JsonNode response, JsonNode order) {
        List<String> keys = new ArrayList<>();
        order.forEach(key -> keys.add(key.asText()));
        List<CoordinatorRecord> written = new ArrayList<>(result.records());
        written.sort(Comparator.comparing(record -> keys.indexOf(key(record))));
        List<List<String>> records = new ArrayList<>();
        for (CoordinatorRecord record : written) {
            shard.replay(offset++, -1, (short) -1, record);
            byte[] value = SERDE.serializeValue(record);
            records.add(Arrays.asList(key(record), value == null ? null : HexFormat.of().formatHex(value)));
        }
        Map<String, Object> answer = new TreeMap<>();
        answer.put("records", records);
        answer.put("response", response);
        return answer;
    }
}
