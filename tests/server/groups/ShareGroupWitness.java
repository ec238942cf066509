// Runs Apache Kafka's own group coordinator shard with share groups: one operation per line of stdin, and one answer per line of
// stdout, both JSON. Run by the tests as a single-file program, with Kafka's jars on the class path.
//
// "begin" makes an empty shard, "topics" replaces the topics; the other operations are requests, or the results of the persister.
// The records of an operation are replayed at once; an answer has them as bytes, with the response in Kafka's JSON.

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.util.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.message.*;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.coordinator.common.runtime.*;
import org.apache.kafka.coordinator.group.*;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetrics;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.share.persister.*;
import org.apache.kafka.timeline.SnapshotRegistry;

public class ShareGroupWitness extends JsonWitness {
    static final GroupCoordinatorRecordSerde SERDE = new GroupCoordinatorRecordSerde();
    static long now, offset;
    static Map<Uuid, JsonNode> topics = new HashMap<>();
    static GroupCoordinatorShard shard;

    @SuppressWarnings("unchecked")
    static <T> T proxy(Class<?> type, InvocationHandler handler) {
        return (T) Proxy.newProxyInstance(ShareGroupWitness.class.getClassLoader(), new Class<?>[] {type}, handler);
    }

    static final Time TIME = proxy(Time.class, (self, method, args) -> now);
    static final CoordinatorTimer<CoordinatorRecord> TIMER = proxy(
        CoordinatorTimer.class, (self, method, args) -> method.getReturnType() == boolean.class ? (Object) false : null);
    static final CoordinatorExecutor<CoordinatorRecord> EXECUTOR = proxy(
        CoordinatorExecutor.class, (self, method, args) -> method.getReturnType() == boolean.class ? (Object) false : null);
    static final AuthorizableRequestContext CONTEXT = proxy(AuthorizableRequestContext.class, (self, method, args) ->
        method.getName().equals("clientAddress") ? InetAddress.getByAddress(new byte[] {127, 0, 0, 1}) : "test");

    static CoordinatorMetadataImage.TopicMetadata topic(Uuid id, JsonNode topic) {
        return proxy(CoordinatorMetadataImage.TopicMetadata.class, (self, method, args) -> {
            switch (method.getName()) {
                case "id": return id;
                case "name": return topic.get("name").asText();
                case "partitionCount": return topic.get("partitions").asInt();
                default: return new ArrayList<String>();
            }
        });
    }

    static CoordinatorMetadataImage image(Map<Uuid, JsonNode> of) {
        return proxy(CoordinatorMetadataImage.class, (self, method, args) -> {
            switch (method.getName()) {
                case "topicMetadata":
                    return of.entrySet().stream()
                        .filter(each -> each.getKey().equals(args[0]) || each.getValue().get("name").asText().equals(args[0]))
                        .findFirst().map(each -> topic(each.getKey(), each.getValue()));
                case "isEmpty": return of.isEmpty();
                case "version": return 1L;
                case "emptyDelta": return CoordinatorMetadataDelta.EMPTY;
                case "equals": return self == args[0];
                case "hashCode": return 1;
                default: return of.keySet();
            }
        });
    }

    public static void main(String[] args) throws Exception {
        run(ShareGroupWitness::answered);
    }

    static Object answered(JsonNode q) throws Throwable {
        try {
            return answer(q);
        } catch (org.apache.kafka.common.errors.ApiException refusal) {
            return Map.of("error", Errors.forException(refusal).code(), "message", String.valueOf(refusal.getMessage()));
        }
    }

    static Object answer(JsonNode q) throws Throwable {
        now = q.get("now").asLong();
        String group = "s";
        List<Object> records = new ArrayList<>();
        switch (q.get("op").asText()) {
            case "begin":
                return begin(q);
            case "topics":
                return Map.of("records", changed(q));
            case "heartbeat": {
                var result = shard.shareGroupHeartbeat(CONTEXT, ShareGroupHeartbeatRequestDataJsonConverter.read(q.get("request"), (short) 1));
                apply(result, records);
                JsonNode response = ShareGroupHeartbeatResponseDataJsonConverter.write(result.response().getKey(), (short) 1);
                return Map.of("records", records, "response", response, "initialize", result.response().getValue()
                    .map(each -> initialized(each.groupTopicPartitionData())).orElse(List.of()));
            }
            case "initialized":
                apply(shard.initializeShareGroupState(group, partitions(q)), records);
                return Map.of("records", records);
            case "failed":
                apply(shard.uninitializeShareGroupState(group, partitions(q)), records);
                return Map.of("records", records);
            case "alter": {
                var result = shard.alterShareGroupOffsets(group, AlterShareGroupOffsetsRequestDataJsonConverter.read(q.get("request"), (short) 0));
                apply(result, records);
                Map<Uuid, Set<Integer>> altered = new HashMap<>();
                result.response().getValue().groupTopicPartitionData().topicsData().forEach(topic -> topic.partitions().forEach(
                    each -> altered.computeIfAbsent(topic.topicId(), id -> new HashSet<>()).add(each.partition())));
                apply(shard.initializeShareGroupState(group, altered), records);
                return Map.of("records", records, "initialize", initialized(result.response().getValue().groupTopicPartitionData()));
            }
            case "delete offsets": {
                var result = shard.initiateDeleteShareGroupOffsets(
                    group, DeleteShareGroupOffsetsRequestDataJsonConverter.read(q.get("request"), (short) 0));
                apply(result, records);
                var held = result.response();
                Map<Uuid, String> deleted = new HashMap<>();
                if (held.deleteStateRequestParameters() != null) {
                    held.deleteStateRequestParameters().groupTopicPartitionData().topicsData().forEach(
                        each -> deleted.put(each.topicId(), topics.get(each.topicId()).get("name").asText()));
                    apply(shard.completeDeleteShareGroupOffsets(group, deleted, List.of()), records);
                }
                return Map.of("records", records, "code", held.topLevelErrorCode(), "deleted", new TreeSet<>(deleted.values()));
            }
            default: {
                var requests = shard.sharePartitionDeleteRequests(List.of(group));
                apply(requests, records);
                int code = requests.response().values().stream().mapToInt(each -> each.getValue().code()).sum();
                if (code == 0) {
                    var result = shard.deleteGroups(CONTEXT, List.of(group));
                    apply(result, records);
                    code = result.response().iterator().next().errorCode();
                }
                return Map.of("records", records, "code", code);
            }
        }
    }

    static Object begin(JsonNode q) {
        Map<String, Object> props = Map.of(
            "group.share.assignment.interval.ms", q.get("interval").asInt(), "group.share.max.size", q.get("size").asInt());
        AbstractConfig all = new AbstractConfig(
            Utils.mergeConfigs(List.of(GroupCoordinatorConfig.CONFIG_DEF, ShareGroupConfig.CONFIG_DEF)), props, false);
        GroupCoordinatorConfig config = new GroupCoordinatorConfig(all);
        ShareGroupConfig share = new ShareGroupConfig(all);
        shard = new GroupCoordinatorShard.Builder(config, new GroupConfigManager(config, share))
            .withAuthorizerPlugin(Optional.empty()).withTime(TIME).withTimer(TIMER).withExecutor(EXECUTOR)
            .withSnapshotRegistry(new SnapshotRegistry(new LogContext())).withLogContext(new LogContext())
            .withCoordinatorMetrics(new GroupCoordinatorMetrics())
            .withTopicPartition(new TopicPartition("__consumer_offsets", 0)).build();
        topics = read(q.get("topics"));
        shard.onLoaded(image(topics));
        offset = 0;
        return Map.of();
    }

    static Map<Uuid, JsonNode> read(JsonNode given) {
        Map<Uuid, JsonNode> found = new HashMap<>();
        given.fields().forEachRemaining(each -> found.put(Uuid.fromString(each.getKey()), each.getValue()));
        return found;
    }

    static List<Object> changed(JsonNode q) {
        Map<Uuid, JsonNode> before = topics;
        topics = read(q.get("topics"));
        Set<Uuid> created = new HashSet<>(topics.keySet()), changed = new HashSet<>(topics.keySet()), deleted = new HashSet<>(before.keySet());
        created.removeAll(before.keySet());
        deleted.removeAll(topics.keySet());
        changed.removeIf(id -> topics.get(id).equals(before.get(id)));
        CoordinatorMetadataDelta delta = proxy(CoordinatorMetadataDelta.class, (self, method, args) -> {
            switch (method.getName()) {
                case "createdTopicIds": return created;
                case "changedTopicIds": return changed;
                case "deletedTopicIds": return deleted;
                default: return image(before);
            }
        });
        shard.onMetadataUpdate(delta, image(topics));
        List<Object> records = new ArrayList<>();
        apply(shard.maybeCleanupShareGroupState(deleted), records);
        return records;
    }

    static Map<Uuid, Set<Integer>> partitions(JsonNode q) {
        Map<Uuid, Set<Integer>> found = new HashMap<>();
        q.get("partitions").fields().forEachRemaining(each -> each.getValue().forEach(
            partition -> found.computeIfAbsent(Uuid.fromString(each.getKey()), id -> new HashSet<>()).add(partition.asInt())));
        return found;
    }

    static List<Object> initialized(GroupTopicPartitionData<PartitionStateData> data) {
        List<Object> found = new ArrayList<>();
        data.topicsData().forEach(topic -> topic.partitions().forEach(each -> found.add(
            List.of(topic.topicId().toString(), each.partition(), each.stateEpoch(), each.startOffset()))));
        return found;
    }

    static void apply(CoordinatorResult<?, CoordinatorRecord> result, List<Object> records) {
        for (CoordinatorRecord record : result.records()) {
            shard.replay(offset++, -1, (short) -1, record);
            byte[] value = SERDE.serializeValue(record);
            records.add(Arrays.asList(
                HexFormat.of().formatHex(SERDE.serializeKey(record)), value == null ? null : HexFormat.of().formatHex(value)));
        }
    }
}
