package interop;

import static interop.Promise.CODECS;
import static interop.Promise.EACH;
import static interop.Promise.PARTITIONS;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.TopicPartition;

/** Reads the topic in a group, and what a group is good for: members that share it, and positions that outlive them. */
final class Reading {
    static final int ALL = CODECS.size() * EACH;
    static final int FURTHER = 30;

    private static final Duration SOON = Duration.ofMillis(100);
    private static final long FAR_FUTURE = 4_102_444_800_000L; // the year 2100

    private final Clients clients;
    private final String topic;
    private final String group;
    private final Report report;
    private final Promise promise = new Promise();
    private long committed;

    Reading(Clients clients, String topic, String group, Report report) {
        this.clients = clients;
        this.topic = topic;
        this.group = group;
        this.report = report;
    }

    KafkaConsumer<byte[], byte[]> member() {
        KafkaConsumer<byte[], byte[]> member = clients.consumer(group, Map.of());
        member.subscribe(List.of(topic));
        return member;
    }

    /** All that was written, and no record more than that. */
    void read(KafkaConsumer<byte[], byte[]> member) {
        report.look("read", () -> {
            Patience.until("all records", () -> promise.total() >= ALL, () -> poll(member, promise));
            if (promise.seen().values().stream().anyMatch(count -> count != EACH)) {
                throw new AssertionError("seen " + promise.seen());
            }
        });
        report.look("headers", () -> check(promise.wrongHeaders()));
    }

    void nullHeader() {
        report.look("null_header", () -> check(promise.wrongNullHeader()));
    }

    /** The only member has all partitions, however many another client has made. */
    void group(KafkaConsumer<byte[], byte[]> member) {
        report.look("group", () -> {
            if (member.assignment().size() != member.partitionsFor(topic).size()) {
                throw new AssertionError("the only member has " + member.assignment());
            }
        });
    }

    /** Commits the positions, asks them back, and reports their sum. */
    void commit(KafkaConsumer<byte[], byte[]> member, AdminClient admin) {
        report.look("commit", () -> {
            member.commitSync();
            long sum = 0;
            for (OffsetAndMetadata one : admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().values()) {
                sum += one.offset();
            }
            committed = sum;
            if (sum != ALL) {
                throw new AssertionError("committed " + sum);
            }
        });
    }

    /** It joins, both have partitions and none has two owners; it leaves, and the first has all of them again, from where it was. */
    void secondMember(KafkaConsumer<byte[], byte[]> first) {
        report.look("second_member", () -> {
            Promise after = new Promise();
            try (KafkaConsumer<byte[], byte[]> second = member()) {
                Patience.until("two members with partitions", () -> shared(first, second), () -> {
                    poll(first, after);
                    poll(second, after);
                });
            }
            Patience.until("all partitions again", () -> first.assignment().size() == PARTITIONS, () -> poll(first, after));
            if (after.total() != 0) {
                throw new AssertionError("delivered again: " + after.seen());
            }
        });
    }

    /** A member that joins the group again gets the new records, and none that were committed. */
    void resume(Writing writing) {
        report.look("resume", () -> {
            Promise after = new Promise();
            try (KafkaConsumer<byte[], byte[]> member = member()) {
                Patience.until("partitions", () -> member.assignment().size() == PARTITIONS, () -> poll(member, after));
                writing.produce("none", EACH, EACH + FURTHER);
                Patience.until("further records", () -> after.total() >= FURTHER, () -> poll(member, after));
                poll(member, after);
            }
            if (!after.seen().equals(Map.of("none", FURTHER))) {
                throw new AssertionError("delivered after the return: " + after.seen());
            }
        });
    }

    void offsetsByTime() {
        report.look("offsets_by_time", () -> {
            TopicPartition first = new TopicPartition(topic, 0);
            try (KafkaConsumer<byte[], byte[]> asking = clients.consumer(group + "-times", Map.of())) {
                OffsetAndTimestamp oldest = asking.offsetsForTimes(Map.of(first, 0L)).get(first);
                OffsetAndTimestamp newest = asking.offsetsForTimes(Map.of(first, FAR_FUTURE)).get(first);
                if (oldest == null || oldest.offset() != 0 || newest != null) {
                    throw new AssertionError("from the first time " + oldest + ", from the far future " + newest);
                }
            }
        });
    }

    void report() {
        report.put("seen", promise.seen());
        report.put("digest", promise.digest());
        report.put("committed", committed);
    }

    private static boolean shared(KafkaConsumer<?, ?> first, KafkaConsumer<?, ?> second) {
        Set<TopicPartition> both = new HashSet<>(first.assignment());
        both.addAll(second.assignment());
        boolean each = !first.assignment().isEmpty() && !second.assignment().isEmpty();
        return each && both.size() == PARTITIONS && first.assignment().size() + second.assignment().size() == PARTITIONS;
    }

    private static void poll(KafkaConsumer<byte[], byte[]> member, Promise into) {
        for (ConsumerRecord<byte[], byte[]> one : member.poll(SOON)) {
            into.see(one);
        }
    }

    private static void check(String wrong) {
        if (!wrong.isEmpty()) {
            throw new AssertionError(wrong);
        }
    }
}
