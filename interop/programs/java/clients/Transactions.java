package interop;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;

/** One transaction is aborted and one committed: a consumer with read_committed gets the second alone. Runs only when requested. */
final class Transactions {
    private static final int RECORDS = 10;

    private Transactions() {}

    static void look(Clients clients, String topic, String group, Report report) {
        if (!"1".equals(System.getenv("TRANSACTIONS"))) {
            report.tell("transactions", Report.NOT_TRIED);
            return;
        }
        report.look("transactions", () -> check(clients, topic + "-transactions", group + "-transactions"));
    }

    private static void check(Clients clients, String topic, String group) throws Exception {
        try (AdminClient admin = clients.admin()) {
            Writing.create(admin, topic);
        }
        Map<String, String> settings = Map.of("transactional.id", topic, "max.block.ms", "10000");
        try (KafkaProducer<byte[], byte[]> producer = clients.producer(settings)) {
            producer.initTransactions();
            producer.beginTransaction();
            send(producer, topic, "gzip");
            producer.abortTransaction();
            producer.beginTransaction();
            send(producer, topic, "none");
            producer.commitTransaction();
        }
        Promise promise = new Promise();
        try (KafkaConsumer<byte[], byte[]> member = clients.consumer(group, Map.of("isolation.level", "read_committed"))) {
            member.subscribe(List.of(topic));
            Patience.until("committed records", () -> promise.total() >= RECORDS, () -> {
                for (ConsumerRecord<byte[], byte[]> one : member.poll(Duration.ofMillis(100))) {
                    promise.see(one);
                }
            });
        }
        if (!promise.seen().equals(Map.of("none", RECORDS))) {
            throw new AssertionError("read " + promise.seen());
        }
    }

    /** The label of a record is a codec's name, whatever compresses it. */
    private static void send(KafkaProducer<byte[], byte[]> producer, String topic, String label) {
        for (int n = 0; n < RECORDS; n++) {
            producer.send(Promise.record(topic, label, n));
        }
        producer.flush();
    }
}
