// Asks Apache Kafka's own classes about streams groups: the next assignment of a member, the configured topology for topics that
// exist, and the bytes of records. One question per line of stdin, one answer per line of stdout, both JSON. Run by the tests as a
// single-file program, with Kafka's jars on the class path. Messages are given and answered as their bytes, in hex.

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.*;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.*;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.common.runtime.*;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.generated.StreamsGroupMemberMetadataValue;
import org.apache.kafka.coordinator.group.streams.*;
import org.apache.kafka.coordinator.group.streams.topics.*;

public class StreamsWitness extends JsonWitness {

    public static void main(String[] args) throws Exception {
        run(StreamsWitness::answer);
    }

    static Object answer(JsonNode q) throws Exception {
        switch (q.get("op").asText()) {
            case "reconcile": return reconcile(q);
            case "configure": return configure(q);
            case "records": return records(q);
            default: throw new IllegalArgumentException(q.toString());
        }
    }

    static Object reconcile(JsonNode q) {
        JsonNode processes = q.get("processes");
        StreamsGroupMember next = new CurrentAssignmentBuilder(member(q.get("member")))
            .withTargetAssignment(q.get("epoch").asInt(), tasks(q.get("target")))
            .withCurrentActiveTaskProcessId((id, index) -> processIds(processes, "active", id, index).stream().findFirst().orElse(null))
            .withCurrentStandbyTaskProcessIds((id, index) -> processIds(processes, "standby", id, index))
            .withCurrentWarmupTaskProcessIds((id, index) -> processIds(processes, "warmup", id, index))
            .withOwnedAssignment(q.get("owned").isNull() ? null : tasks(q.get("owned")))
            .build();
        return Map.of("epoch", next.memberEpoch(), "previous", next.previousMemberEpoch(), "state", next.state().name(),
            "assigned", shown(next.assignedTasks()), "pending", shown(next.tasksPendingRevocation()));
    }

    static Set<String> processIds(JsonNode processes, String role, String id, int index) {
        Set<String> found = new LinkedHashSet<>();
        JsonNode ids = processes.get(role).get(id + "_" + index);
        if (ids != null) ids.forEach(each -> found.add(each.asText()));
        return found;
    }

    static StreamsGroupMember member(JsonNode m) {
        Map<String, String> tags = new HashMap<>();
        m.get("tags").fields().forEachRemaining(each -> tags.put(each.getKey(), each.getValue().asText()));
        JsonNode endpoint = m.get("endpoint");
        return StreamsGroupMember.Builder.withDefaults(m.get("id").asText())
            .setMemberEpoch(m.get("epoch").asInt()).setPreviousMemberEpoch(m.get("previous").asInt())
            .setState(MemberState.valueOf(m.get("state").asText())).setProcessId(m.get("process").asText())
            .setInstanceId(m.get("instance").textValue()).setRackId(m.get("rack").textValue()).setClientTags(tags)
            .setClientId("c").setClientHost("/h").setRebalanceTimeoutMs(5).setTopologyEpoch(6)
            .setUserEndpoint(endpoint.isNull() ? null : new StreamsGroupMemberMetadataValue.Endpoint()
                .setHost(endpoint.get(0).asText()).setPort(endpoint.get(1).asInt()))
            .setAssignedTasks(withEpochs(m.get("assigned"))).setTasksPendingRevocation(withEpochs(m.get("pending"))).build();
    }

    static TasksTuple tasks(JsonNode t) {
        return new TasksTuple(partitions(t.get("active")), partitions(t.get("standby")), partitions(t.get("warmup")));
    }

    static Map<String, Set<Integer>> partitions(JsonNode tasks) {
        Map<String, Set<Integer>> found = new HashMap<>();
        tasks.fields().forEachRemaining(each -> {
            Set<Integer> indexes = found.computeIfAbsent(each.getKey(), __ -> new HashSet<>());
            each.getValue().forEach(index -> indexes.add(index.asInt()));
        });
        return found;
    }

    static TasksTupleWithEpochs withEpochs(JsonNode t) {
        Map<String, Map<Integer, Integer>> active = new HashMap<>();
        t.get("active").fields().forEachRemaining(each -> {
            Map<Integer, Integer> epochs = active.computeIfAbsent(each.getKey(), __ -> new HashMap<>());
            each.getValue().fields().forEachRemaining(one -> epochs.put(Integer.parseInt(one.getKey()), one.getValue().asInt()));
        });
        return new TasksTupleWithEpochs(active, partitions(t.get("standby")), partitions(t.get("warmup")));
    }

    static Object shown(TasksTupleWithEpochs t) {
        return Map.of("active", t.activeTasksWithEpochs(), "standby", t.standbyTasks(), "warmup", t.warmupTasks());
    }

    static Object configure(JsonNode q) {
        StreamsTopology topology = StreamsTopology.fromHeartbeatRequest(heartbeat(q).topology());
        ConfiguredTopology found = InternalTopicManager.configureTopics(
            org.slf4j.LoggerFactory.getLogger("witness"), "g", "m", 0, topology, image(q.get("topics")), Time.SYSTEM);
        StreamsGroupDescribeResponseData.DescribedGroup group = new StreamsGroupDescribeResponseData.DescribedGroup()
            .setTopology(found.asStreamsGroupDescribeTopology());
        CreateTopicsRequestData creates = new CreateTopicsRequestData();
        found.internalTopicsToBeCreated().values().forEach(each -> creates.topics().add(each));
        Map<String, Object> answer = new HashMap<>();
        answer.put("described", hex(new StreamsGroupDescribeResponseData().setGroups(List.of(group)), 1));
        answer.put("creates", hex(creates, 7));
        answer.put("tasks", found.subtopologies().map(all -> {
            Map<String, Integer> counts = new HashMap<>();
            all.forEach((id, each) -> counts.put(id, each.numberOfTasks()));
            return counts;
        }).orElse(null));
        found.topicConfigurationException().ifPresent(each -> {
            answer.put("status", each.status().code());
            answer.put("detail", each.getMessage());
        });
        return answer;
    }

    static StreamsGroupHeartbeatRequestData heartbeat(JsonNode q) {
        ByteBuffer body = ByteBuffer.wrap(HexFormat.of().parseHex(q.get("heartbeat").asText()));
        return new StreamsGroupHeartbeatRequestData(new ByteBufferAccessor(body), (short) 1);
    }

    /** An image with these topics: name to number of partitions. */
    static CoordinatorMetadataImage image(JsonNode topics) {
        return (CoordinatorMetadataImage) Proxy.newProxyInstance(StreamsWitness.class.getClassLoader(),
            new Class<?>[] {CoordinatorMetadataImage.class}, (proxy, method, args) -> {
                if (!method.getName().equals("topicMetadata")) throw new UnsupportedOperationException(method.getName());
                JsonNode count = topics.get((String) args[0]);
                return Optional.ofNullable(count).map(each -> topic((String) args[0], each.asInt()));
            });
    }

    static CoordinatorMetadataImage.TopicMetadata topic(String name, int partitions) {
        return new CoordinatorMetadataImage.TopicMetadata() {
            public String name() { return name; }
            public Uuid id() { return Uuid.ZERO_UUID; }
            public int partitionCount() { return partitions; }
            public List<String> partitionRacks(int partition) { return List.of(); }
        };
    }

    static Object records(JsonNode q) {
        StreamsGroupMember member = member(q.get("member"));
        Map<String, String> configs = new TreeMap<>();
        q.get("configs").fields().forEachRemaining(each -> configs.put(each.getKey(), each.getValue().asText()));
        List<CoordinatorRecord> records = List.of(
            StreamsCoordinatorRecordHelpers.newStreamsGroupMemberRecord("g", member),
            StreamsCoordinatorRecordHelpers.newStreamsGroupCurrentAssignmentRecord("g", member),
            StreamsCoordinatorRecordHelpers.newStreamsGroupTargetAssignmentRecord("g", member.memberId(), tasks(q.get("target"))),
            StreamsCoordinatorRecordHelpers.newStreamsGroupTargetAssignmentMetadataRecord("g", 7, q.get("timestamp").asLong()),
            StreamsCoordinatorRecordHelpers.newStreamsGroupMetadataRecord("g", 7, -8, 9, configs, q.get("stored").asInt(), -1),
            StreamsCoordinatorRecordHelpers.newStreamsGroupTopologyRecord("g", heartbeat(q).topology()),
            StreamsCoordinatorRecordHelpers.newStreamsGroupMemberTombstoneRecord("g", member.memberId()),
            StreamsCoordinatorRecordHelpers.newStreamsGroupCurrentAssignmentTombstoneRecord("g", member.memberId()),
            StreamsCoordinatorRecordHelpers.newStreamsGroupTargetAssignmentTombstoneRecord("g", member.memberId()),
            StreamsCoordinatorRecordHelpers.newStreamsGroupTargetAssignmentMetadataTombstoneRecord("g"),
            StreamsCoordinatorRecordHelpers.newStreamsGroupEpochTombstoneRecord("g"),
            StreamsCoordinatorRecordHelpers.newStreamsGroupTopologyRecordTombstone("g"));
        GroupCoordinatorRecordSerde serde = new GroupCoordinatorRecordSerde();
        List<Object> found = new ArrayList<>();
        for (CoordinatorRecord record : records) {
            byte[] value = serde.serializeValue(record);
            found.add(Arrays.asList(HexFormat.of().formatHex(serde.serializeKey(record)),
                value == null ? null : HexFormat.of().formatHex(value)));
        }
        return found;
    }

    static String hex(Message message, int version) {
        ByteBuffer body = MessageUtil.toByteBufferAccessor(message, (short) version).buffer();
        byte[] bytes = new byte[body.remaining()];
        body.get(bytes);
        return HexFormat.of().formatHex(bytes);
    }
}
