package interop;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/**
 * One transaction is aborted and one committed: a consumer with read_committed gets the second alone. Offsets are committed with a
 * transaction, a producer is fenced by a newer one, and the broker aborts a transaction whose timeout is over. Runs only when requested.
 */
final class Transactions {
    private static final int RECORDS = 10;
    private static final String SHORT_TIMEOUT_MS = "1000";

    private final Clients clients;
    private final String topic;
    private final String group;

    private Transactions(Clients clients, String topic, String group) {
        this.clients = clients;
        this.topic = topic;
        this.group = group;
    }

    static void look(Clients clients, String topic, String group, Report report) {
        if (!"1".equals(System.getenv("TRANSACTIONS"))) {
            report.tell("transactions", Report.NOT_TRIED);
            return;
        }
        report.look("transactions", () -> new Transactions(clients, topic + "-transactions", group + "-transactions").check());
    }

    private void check() throws Exception {
        try (AdminClient admin = clients.admin()) {
            Writing.create(admin, topic);
        }
        try (KafkaProducer<byte[], byte[]> producer = producer(topic, "60000");
                KafkaProducer<byte[], byte[]> late = producer(topic + "-late", SHORT_TIMEOUT_MS)) {
            producer.beginTransaction();
            send(producer, "gzip", RECORDS);
            producer.abortTransaction();
            producer.beginTransaction();
            send(producer, "none", RECORDS);
            producer.commitTransaction();
            expect(Map.of("none", RECORDS), RECORDS);
            offsets(producer);
            late.beginTransaction();
            send(late, "gzip", RECORDS);
            fenced(producer);
            // The open transaction of `late` holds back what follows in its partitions, until the broker aborts it.
            expect(Map.of("none", RECORDS, "zstd", RECORDS), 2 * RECORDS);
            refused(late);
        }
    }

    private KafkaProducer<byte[], byte[]> producer(String id, String timeoutMs) {
        Map<String, String> settings = Map.of("transactional.id", id, "max.block.ms", "10000", "transaction.timeout.ms", timeoutMs);
        KafkaProducer<byte[], byte[]> made = clients.producer(settings);
        made.initTransactions();
        return made;
    }

    /** The label of a record is a codec's name, whatever compresses it. */
    private void send(KafkaProducer<byte[], byte[]> producer, String label, int count) {
        for (int n = 0; n < count; n++) {
            producer.send(Promise.record(topic, label, n));
        }
        producer.flush();
    }

    private void expect(Map<String, Integer> labels, int count) {
        Promise promise = new Promise();
        String reader = group + "-" + count;
        try (KafkaConsumer<byte[], byte[]> member = clients.consumer(reader, Map.of("isolation.level", "read_committed"))) {
            member.subscribe(List.of(topic));
            Patience.until("committed records", () -> promise.total() >= count, () -> {
                for (ConsumerRecord<byte[], byte[]> one : member.poll(Duration.ofMillis(100))) {
                    promise.see(one);
                }
            });
        }
        if (!promise.seen().equals(labels)) {
            throw new AssertionError("read " + promise.seen());
        }
    }

    /** An offset of an aborted transaction, and then one of a committed transaction. */
    private void offsets(KafkaProducer<byte[], byte[]> producer) throws Exception {
        TopicPartition partition = new TopicPartition(topic, 0);
        producer.beginTransaction();
        sendOffset(producer, partition, 7);
        producer.abortTransaction();
        producer.beginTransaction();
        sendOffset(producer, partition, 5);
        producer.commitTransaction();
        List<Long> found = new ArrayList<>();
        try (AdminClient admin = clients.admin()) {
            // The coordinator answers before it has written its markers.
            Patience.until("an offset", () -> !found.isEmpty(), () -> {
                try {
                    OffsetAndMetadata one = admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().get(partition);
                    if (one != null) {
                        found.add(one.offset());
                    }
                } catch (InterruptedException | ExecutionException error) {
                    throw new AssertionError(error);
                }
            });
        }
        if (found.get(0) != 5) {
            throw new AssertionError("committed is " + found);
        }
    }

    /** Kafka 4 has only the method that takes metadata of the group (KIP-447), and 2.1 only the one that takes its name. */
    private void sendOffset(KafkaProducer<byte[], byte[]> producer, TopicPartition partition, long offset) throws Exception {
        Map<TopicPartition, OffsetAndMetadata> offsets = Map.of(partition, new OffsetAndMetadata(offset));
        Class<?> kind;
        try {
            kind = Class.forName("org.apache.kafka.clients.consumer.ConsumerGroupMetadata");
        } catch (ClassNotFoundException older) {
            producer.sendOffsetsToTransaction(offsets, group);
            return;
        }
        Method method = KafkaProducer.class.getMethod("sendOffsetsToTransaction", Map.class, kind);
        method.invoke(producer, offsets, kind.getConstructor(String.class).newInstance(group));
    }

    private void fenced(KafkaProducer<byte[], byte[]> zombie) {
        zombie.beginTransaction();
        send(zombie, "gzip", RECORDS);
        try (KafkaProducer<byte[], byte[]> newer = producer(topic, "60000")) {
            newer.beginTransaction();
            send(newer, "zstd", RECORDS);
            newer.commitTransaction();
        }
        refused(zombie);
    }

    private static void refused(KafkaProducer<byte[], byte[]> zombie) {
        try {
            zombie.commitTransaction();
        } catch (KafkaException error) {
            return;
        }
        throw new AssertionError("a fenced producer has committed");
    }
}
