package interop;

import static interop.Promise.CODECS;
import static interop.Promise.EACH;
import static interop.Promise.PARTITIONS;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TopicExistsException;

/** Makes the topic and fills it. */
final class Writing {
    private final Clients clients;
    private final String topic;
    private final Report report;
    private final Promise promise = new Promise();

    Writing(Clients clients, String topic, Report report) {
        this.clients = clients;
        this.topic = topic;
        this.report = report;
    }

    void create(AdminClient admin) {
        report.look("create_topic", () -> create(admin, topic));
    }

    void createTwice(AdminClient admin) {
        report.look("create_twice", () -> {
            try {
                create(admin, topic);
            } catch (ExecutionException refused) {
                if (refused.getCause() instanceof TopicExistsException) {
                    return;
                }
                throw refused;
            }
            throw new AssertionError("it was made a second time");
        });
    }

    /** Descriptions of topics have another shape in each release of the admin client; a producer asks the same of the broker. */
    void describe(AdminClient admin) {
        report.look("describe_topic", () -> {
            if (!admin.listTopics().names().get().contains(topic)) {
                throw new AssertionError("it is not listed");
            }
            try (KafkaProducer<byte[], byte[]> producer = clients.producer(Map.of())) {
                int found = producer.partitionsFor(topic).size();
                if (found != PARTITIONS) {
                    throw new AssertionError(found + " partitions");
                }
            }
        });
    }

    void produceAll() {
        for (String codec : CODECS) {
            report.look("produce_" + codec, () -> produce(codec, 0, EACH));
        }
    }

    void report() {
        report.put("seen", promise.seen());
        report.put("digest", promise.digest());
        report.put("committed", 0);
    }

    /** Records of these numbers, all acknowledged, in batches of more than one. */
    void produce(String codec, int first, int end) throws Exception {
        Map<ProducerRecord<byte[], byte[]>, Future<RecordMetadata>> sent = new LinkedHashMap<>();
        try (KafkaProducer<byte[], byte[]> producer = clients.producer(Map.of("compression.type", codec, "linger.ms", "20"))) {
            for (int n = first; n < end; n++) {
                ProducerRecord<byte[], byte[]> one = Promise.record(topic, codec, n);
                sent.put(one, producer.send(one));
            }
            producer.flush();
        }
        for (Map.Entry<ProducerRecord<byte[], byte[]>, Future<RecordMetadata>> one : sent.entrySet()) {
            one.getValue().get();
            promise.wrote(one.getKey());
        }
    }

    static void create(AdminClient admin, String topic) throws Exception {
        admin.createTopics(List.of(new NewTopic(topic, PARTITIONS, (short) 1))).all().get();
    }
}
