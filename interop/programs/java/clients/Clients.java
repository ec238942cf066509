package interop;

import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The clients of one broker, each with Kafka's defaults but for what is named here. */
final class Clients {
    private final String bootstrap;

    Clients(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    AdminClient admin() {
        return AdminClient.create(settings(Map.of()));
    }

    KafkaProducer<byte[], byte[]> producer(Map<String, String> more) {
        return new KafkaProducer<>(settings(more), new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** A member of the group that begins with the first record, commits when `commitSync` is called, and learns of a rebalance soon. */
    KafkaConsumer<byte[], byte[]> consumer(String group, Map<String, String> more) {
        Properties given = settings(more);
        given.put("group.id", group);
        given.put("auto.offset.reset", "earliest");
        given.put("enable.auto.commit", "false");
        if ("consumer".equals(System.getenv("GROUP_PROTOCOL"))) {
            given.put("group.protocol", "consumer"); // the broker decides about heartbeats
        } else {
            given.put("heartbeat.interval.ms", "100");
        }
        return new KafkaConsumer<>(given, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private Properties settings(Map<String, String> more) {
        Properties given = new Properties();
        given.put("bootstrap.servers", bootstrap);
        given.putAll(more);
        return given;
    }
}
