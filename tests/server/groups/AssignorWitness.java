// Asks Apache Kafka's own partition assignors for the assignment of one group, and its hash tables for their order. One question
// per line of stdin, one answer per line of stdout, both JSON. Run by the tests as a single-file program, with Kafka's jars on the
// class path.
//
// A question holds the whole group, its members in the order in which they are put into the map that the assignor is given. What
// iterates in an order, iterates in that order in the answer.

import com.fasterxml.jackson.databind.JsonNode;
import java.util.*;
import java.util.function.Function;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.api.assignor.*;
import org.apache.kafka.coordinator.group.assignor.*;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.modern.*;
import org.apache.kafka.coordinator.group.streams.AssignmentRefiner;
import org.apache.kafka.coordinator.group.streams.MemberTaskOffsets;
import org.apache.kafka.coordinator.group.streams.TasksTuple;
import org.apache.kafka.coordinator.group.streams.assignor.AssignmentConfigsImpl;
import org.apache.kafka.coordinator.group.streams.assignor.MemberMetadataAndStateImpl;
import org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor;
import org.apache.kafka.coordinator.group.streams.assignor.TaskId;
import org.apache.kafka.coordinator.group.util.OverlayMap;
import org.apache.kafka.server.common.TopicIdPartition;
import org.apache.kafka.timeline.SnapshotRegistry;
import org.apache.kafka.timeline.TimelineHashMap;

public class AssignorWitness extends JsonWitness {
    static final Map<String, PartitionAssignor> ASSIGNORS = Map.of(
        "range", new RangeAssignor(), "uniform", new UniformAssignor(), "simple", new SimpleAssignor());

    public static void main(String[] args) throws Exception {
        run(AssignorWitness::answer);
    }

    static Object answer(JsonNode q) throws Exception {
        switch (q.get("op").asText()) {
            case "release": return Runtime.version().feature();
            case "hash_map": return shown(hashMap(q).keySet());
            case "hash_set_copy": return shown(new HashSet<>(keys(q.get("kind").asText(), q.get("keys"))));
            case "timeline": return shown(timeline(q, q.get("steps")).keySet());
            case "overlay": return shown(overlay(q).keySet());
            case "hash_codes": return keys(q.get("kind").asText(), q.get("keys")).stream().map(Object::hashCode).toList();
            case "assign": return assign(q);
            case "assign_tasks": return assignTasks(q);
            case "kinds_of_tasks": return kindsOfTasks();
            default: throw new IllegalArgumentException("what?");
        }
    }

    // Hash tables.

    static Map<Object, Integer> hashMap(JsonNode q) {
        Map<Object, Integer> map = new HashMap<>(q.get("capacity").asInt());
        for (JsonNode step : q.get("steps")) {
            Object key = key(q.get("kind").asText(), step.get(1));
            switch (step.get(0).asText()) {
                case "put": map.put(key, 1); break;
                case "compute": map.computeIfAbsent(key, absent -> 1); break;
                case "remove": map.remove(key); break;
                default: map.keySet().removeIf(key::equals);  // by the iterator
            }
        }
        return map;
    }

    static Map<Object, Integer> timeline(JsonNode q, JsonNode steps) {
        return changed(new TimelineHashMap<>(new SnapshotRegistry(new org.apache.kafka.common.utils.internals.LogContext()),
            q.get("expected_size").asInt()), q.get("kind").asText(), steps);
    }

    // As the members of a group come to the assignor.
    static Map<Object, Integer> overlay(JsonNode q) {
        Map<Object, Integer> map = new HashMap<>();
        changed(new OverlayMap<>(timeline(q, q.get("steps"))), q.get("kind").asText(), q.get("changes")).forEach(map::put);
        return map;
    }

    static Map<Object, Integer> changed(Map<Object, Integer> map, String kind, JsonNode steps) {
        for (JsonNode step : steps) {
            Object key = key(kind, step.get(1));
            if (step.get(0).asText().equals("put")) map.put(key, 1);
            else map.remove(key);
        }
        return map;
    }

    static List<Object> keys(String kind, JsonNode keys) {
        List<Object> all = new ArrayList<>();
        keys.forEach(key -> all.add(key(kind, key)));
        return all;
    }

    static Object key(String kind, JsonNode key) {
        switch (kind) {
            case "integer": return key.asInt();
            case "string": return key.asText();
            case "uuid": return Uuid.fromString(key.asText());
            case "topic_id_partition": return new TopicIdPartition(Uuid.fromString(key.get(0).asText()), key.get(1).asInt());
            default: return new TaskId(key.get(0).asText(), key.get(1).asInt());
        }
    }

    static List<Object> shown(Collection<?> keys) {
        List<Object> all = new ArrayList<>();
        for (Object key : keys) {
            if (key instanceof TopicIdPartition each) all.add(List.of(each.topicId().toString(), each.partitionId()));
            else if (key instanceof TaskId each) all.add(List.of(each.subtopologyId(), each.partition()));
            else all.add(key instanceof Uuid ? key.toString() : key);
        }
        return all;
    }

    // Assignments.

    static Object assign(JsonNode q) {
        Topics topics = new Topics(q.get("topics"));
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
        for (JsonNode member : q.get("members")) {
            Assignment assignment = assignment(member.get("assignment"));
            String id = member.get("member_id").asText();
            assignment.partitions().forEach((topic, partitions) -> partitions.forEach(
                partition -> inverted.computeIfAbsent(topic, absent -> new HashMap<>()).put(partition, id)));
            Set<String> names = new HashSet<>(strings(member.get("topics")));
            members.put(id, new MemberSubscriptionAndAssignmentImpl(
                Optional.empty(), Optional.ofNullable(member.get("instance_id").textValue()), new TopicIds(names, topics), assignment));
        }
        Optional<Map<Uuid, Set<Integer>>> assignable =
            q.get("assignable").isNull() ? Optional.empty() : Optional.of(assignment(q.get("assignable")).partitions());
        GroupSpec spec = new GroupSpecImpl(Collections.unmodifiableMap(members),
            q.get("homogeneous").asBoolean() ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS, inverted, assignable);
        GroupAssignment result = ASSIGNORS.get(q.get("assignor").asText()).assign(spec, topics);
        Map<String, Object> answer = new TreeMap<>();
        result.members().forEach((id, assignment) -> answer.put(id, lists(assignment.partitions())));
        return Map.of("order", new ArrayList<>(members.keySet()), "members", answer);
    }

    static List<String> strings(JsonNode node) {
        List<String> all = new ArrayList<>();
        node.forEach(each -> all.add(each.asText()));
        return all;
    }

    static List<Object> lists(Map<Uuid, Set<Integer>> assignment) {
        List<Object> topics = new ArrayList<>();
        assignment.forEach((topic, partitions) -> topics.add(List.of(topic.toString(), new ArrayList<>(partitions))));
        return topics;
    }

    // As the coordinator reads it from a record.
    static Assignment assignment(JsonNode node) {
        ConsumerGroupTargetAssignmentMemberValue record = new ConsumerGroupTargetAssignmentMemberValue();
        for (JsonNode topic : node) {
            List<Integer> partitions = new ArrayList<>();
            topic.get(1).forEach(partition -> partitions.add(partition.asInt()));
            record.topicPartitions().add(new ConsumerGroupTargetAssignmentMemberValue.TopicPartition()
                .setTopicId(Uuid.fromString(topic.get(0).asText())).setPartitions(partitions));
        }
        return Assignment.fromRecord(record);
    }

    // Tasks of a streams group. A subtopology is [id, number of tasks, whether it has state].

    static Object assignTasks(JsonNode q) {
        Map<String, JsonNode> subtopologies = new LinkedHashMap<>();
        q.get("subtopologies").forEach(each -> subtopologies.put(each.get(0).asText(), each));
        var topology = new org.apache.kafka.coordinator.group.api.streams.assignor.TopologyDescriber() {
            public List<String> subtopologies() { return new ArrayList<>(subtopologies.keySet()); }
            public int maxNumInputPartitions(String id) { return subtopologies.get(id).get(1).asInt(); }
            public boolean isStateful(String id) { return subtopologies.get(id).get(2).asBoolean(); }
        };
        Map<String, MemberMetadataAndStateImpl> members = new HashMap<>();
        for (JsonNode member : q.get("members"))
            members.put(member.get("member_id").asText(), new MemberMetadataAndStateImpl(
                Optional.empty(), Optional.empty(), member.get("process_id").asText(), Map.of(), tasks(member.get("active")),
                tasks(member.get("standby")), Map.of(), offsets(member.get("offsets")), Map.of()));
        var spec = new org.apache.kafka.coordinator.group.streams.assignor.GroupSpecImpl(
            members, new AssignmentConfigsImpl(q.get("standbys").asInt(), List.of()));
        Map<String, Object> answer = new TreeMap<>();
        new StickyTaskAssignor().assign(spec, topology).members().forEach((id, assigned) -> answer.put(
            id, List.of(sorted(assigned.activeTasks()), sorted(assigned.standbyTasks()))));
        return Map.of("order", new ArrayList<>(members.keySet()), "members", answer);
    }

    // What an assignor can return, and whether the refinement that follows adds warm-up tasks.
    static Object kindsOfTasks() {
        List<String> kinds = new ArrayList<>();
        for (var field : org.apache.kafka.coordinator.group.api.streams.assignor.MemberAssignment.class.getDeclaredFields())
            kinds.add(field.getName());
        Map<String, TasksTuple> target = Map.of("new", new TasksTuple(Map.of("0", Set.of(0, 1)), Map.of(), Map.of()));
        Map<String, MemberTaskOffsets> behind = Map.of("new", new MemberTaskOffsets(
            Map.of("0", Map.of(0, 1L, 1, 1L)), Map.of("0", Map.of(0, 1_000_000L, 1, 1_000_000L))));
        return Map.of("kinds", kinds, "refined", !AssignmentRefiner.refine(Map.of(), target, behind, null, 2, 0).equals(target));
    }

    static Map<String, Set<Integer>> tasks(JsonNode node) {
        Map<String, Set<Integer>> tasks = new HashMap<>();
        node.fields().forEachRemaining(each -> each.getValue().forEach(
            partition -> tasks.computeIfAbsent(each.getKey(), absent -> new HashSet<>()).add(partition.asInt())));
        return tasks;
    }

    static Map<String, Map<Integer, Long>> offsets(JsonNode node) {
        Map<String, Map<Integer, Long>> offsets = new HashMap<>();
        node.fields().forEachRemaining(each -> each.getValue().forEach(partition -> offsets.computeIfAbsent(
            each.getKey(), absent -> new HashMap<>()).put(partition.get(0).asInt(), partition.get(1).asLong())));
        return offsets;
    }

    static Map<String, Set<Integer>> sorted(Map<String, Set<Integer>> tasks) {
        Map<String, Set<Integer>> sorted = new TreeMap<>();
        tasks.forEach((id, partitions) -> sorted.put(id, new TreeSet<>(partitions)));
        return sorted;
    }

    // [name, id, number of partitions] of each topic.
    static class Topics implements TopicIds.TopicResolver, SubscribedTopicDescriber {
        final Map<String, Uuid> ids = new HashMap<>();
        final Map<Uuid, String> names = new HashMap<>();
        final Map<Uuid, Integer> partitions = new HashMap<>();

        Topics(JsonNode topics) {
            for (JsonNode topic : topics) {
                Uuid id = Uuid.fromString(topic.get(1).asText());
                ids.put(topic.get(0).asText(), id);
                names.put(id, topic.get(0).asText());
                partitions.put(id, topic.get(2).asInt());
            }
        }

        public CoordinatorMetadataImage image() { return null; }
        public String name(Uuid id) { return names.get(id); }
        public Uuid id(String name) { return ids.get(name); }
        public void clear() { }
        public int numPartitions(Uuid id) { return partitions.getOrDefault(id, -1); }
        public Set<String> racksForPartition(Uuid id, int partition) { return Set.of(); }
    }
}
