// Asks Apache Kafka's own classes about consumer groups: the hash of topics, the next step of a member, and its records. One
// question per line of stdin, one answer per line of stdout, both JSON. Run by the tests as a single-file program, with Kafka's jars
// on the class path.

import com.fasterxml.jackson.databind.JsonNode;
import java.util.*;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordHelpers;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.Utils;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupMemberMetadataValue;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.MemberState;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;
import org.apache.kafka.coordinator.group.modern.consumer.CurrentAssignmentBuilder;

public class ConsumerGroupWitness extends JsonWitness {

    public static void main(String[] args) throws Exception {
        run(ConsumerGroupWitness::answer);
    }

    static Object answer(JsonNode q) {
        switch (q.get("op").asText()) {
            case "hash": return hash(new Topics(q.get("topics")));
            case "reconcile": return shown(reconcile(q));
            case "write": return written(member(q.get("member")));
            default: throw new IllegalArgumentException("what?");
        }
    }

    static Object hash(Topics topics) {
        Map<String, Long> hashes = new HashMap<>();
        topics.names.forEach((id, name) -> hashes.put(name, Utils.computeTopicHash(name, topics)));
        return Map.of("topics", hashes, "group", Utils.computeGroupHash(hashes));
    }

    static ConsumerGroupMember reconcile(JsonNode q) {
        Map<Uuid, Map<Integer, Integer>> current = epochs(q.get("partition_epochs"));
        List<ConsumerGroupHeartbeatRequestData.TopicPartitions> owned = null;
        if (!q.get("owned").isNull()) {
            owned = new ArrayList<>();
            for (JsonNode topic : q.get("owned"))
                owned.add(new ConsumerGroupHeartbeatRequestData.TopicPartitions()
                    .setTopicId(Uuid.fromString(topic.get(0).asText())).setPartitions(integers(topic.get(1))));
        }
        Map<Uuid, Set<Integer>> target = new HashMap<>();
        for (JsonNode topic : q.get("target")) target.put(Uuid.fromString(topic.get(0).asText()), new HashSet<>(integers(topic.get(1))));
        return new CurrentAssignmentBuilder(member(q.get("member")))
            .withMetadataImage(new Topics(q.get("topics")))
            .withTargetAssignment(q.get("epoch").asInt(), new Assignment(target))
            .withHasSubscriptionChanged(q.get("changed").asBoolean())
            .withCurrentPartitionEpoch((id, partition) -> current.getOrDefault(id, Map.of()).getOrDefault(partition, -1))
            .withOwnedTopicPartitions(owned)
            .build();
    }

    static Object shown(ConsumerGroupMember member) {
        return Map.of(
            "member_epoch", member.memberEpoch(), "previous_member_epoch", member.previousMemberEpoch(), "state", member.state().value(),
            "assigned", shown(member.assignedPartitions()), "pending", shown(member.partitionsPendingRevocation()));
    }

    static Object shown(Map<Uuid, Map<Integer, Integer>> partitions) {
        Map<String, Object> topics = new TreeMap<>();
        partitions.forEach((id, epochs) -> topics.put(id.toString(), new TreeMap<>(epochs)));
        return topics;
    }

    static Object written(ConsumerGroupMember member) {
        List<Object> records = new ArrayList<>();
        for (CoordinatorRecord record : List.of(
                GroupCoordinatorRecordHelpers.newConsumerGroupMemberSubscriptionRecord("g", member),
                GroupCoordinatorRecordHelpers.newConsumerGroupCurrentAssignmentRecord("g", member))) {
            GroupCoordinatorRecordSerde serde = new GroupCoordinatorRecordSerde();
            records.add(List.of(HexFormat.of().formatHex(serde.serializeKey(record)), HexFormat.of().formatHex(serde.serializeValue(record))));
        }
        return records;
    }

    static ConsumerGroupMember member(JsonNode q) {
        ConsumerGroupMember.Builder builder = new ConsumerGroupMember.Builder(q.get("member_id").asText())
            .setMemberEpoch(q.get("member_epoch").asInt())
            .setPreviousMemberEpoch(q.get("previous_member_epoch").asInt())
            .setState(MemberState.fromValue((byte) q.get("state").asInt()))
            .setInstanceId(q.get("instance_id").textValue())
            .setRackId(q.get("rack_id").textValue())
            .setClientId(q.get("client_id").asText())
            .setClientHost(q.get("client_host").asText())
            .setSubscribedTopicNames(strings(q.get("subscribed_topic_names")))
            .setSubscribedTopicRegex(q.get("subscribed_topic_regex").textValue())
            .setServerAssignorName(q.get("server_assignor_name").textValue())
            .setRebalanceTimeoutMs(q.get("rebalance_timeout_ms").asInt())
            .setAssignedPartitions(epochs(q.get("assigned")))
            .setPartitionsPendingRevocation(epochs(q.get("pending")));
        JsonNode classic = q.get("classic");
        if (classic.isNull()) return builder.build();
        List<ConsumerGroupMemberMetadataValue.ClassicProtocol> protocols = new ArrayList<>();
        for (JsonNode protocol : classic.get(1))
            protocols.add(new ConsumerGroupMemberMetadataValue.ClassicProtocol()
                .setName(protocol.get(0).asText()).setMetadata(HexFormat.of().parseHex(protocol.get(1).asText())));
        return builder.setClassicMemberMetadata(new ConsumerGroupMemberMetadataValue.ClassicMemberMetadata()
            .setSessionTimeoutMs(classic.get(0).asInt()).setSupportedProtocols(protocols)).build();
    }

    static Map<Uuid, Map<Integer, Integer>> epochs(JsonNode node) {
        Map<Uuid, Map<Integer, Integer>> topics = new HashMap<>();
        node.properties().forEach(topic -> {
            Map<Integer, Integer> partitions = new HashMap<>();
            topic.getValue().properties().forEach(each -> partitions.put(Integer.valueOf(each.getKey()), each.getValue().asInt()));
            topics.put(Uuid.fromString(topic.getKey()), partitions);
        });
        return topics;
    }

    static List<Integer> integers(JsonNode node) {
        List<Integer> all = new ArrayList<>();
        node.forEach(each -> all.add(each.asInt()));
        return all;
    }

    static List<String> strings(JsonNode node) {
        List<String> all = new ArrayList<>();
        node.forEach(each -> all.add(each.asText()));
        return all;
    }

    // [name, id, the racks of the replicas of each partition] of each topic.
    static class Topics implements CoordinatorMetadataImage {
        final Map<Uuid, String> names = new HashMap<>();
        final Map<String, Uuid> ids = new HashMap<>();
        final Map<Uuid, JsonNode> racks = new HashMap<>();

        Topics(JsonNode topics) {
            for (JsonNode topic : topics) {
                Uuid id = Uuid.fromString(topic.get(1).asText());
                names.put(id, topic.get(0).asText());
                ids.put(topic.get(0).asText(), id);
                racks.put(id, topic.get(2));
            }
        }

        public Set<Uuid> topicIds() { return names.keySet(); }
        public Set<String> topicNames() { return ids.keySet(); }
        public Optional<TopicMetadata> topicMetadata(String name) { return Optional.ofNullable(ids.get(name)).map(this::of); }
        public Optional<TopicMetadata> topicMetadata(Uuid id) { return Optional.ofNullable(names.get(id)).map(name -> of(id)); }
        public CoordinatorMetadataDelta emptyDelta() { return null; }
        public long version() { return 0; }
        public boolean isEmpty() { return names.isEmpty(); }

        TopicMetadata of(Uuid id) {
            return new TopicMetadata() {
                public String name() { return names.get(id); }
                public Uuid id() { return id; }
                public int partitionCount() { return racks.get(id).size(); }
                public List<String> partitionRacks(int partition) { return strings(racks.get(id).get(partition)); }
            };
        }
    }
}
