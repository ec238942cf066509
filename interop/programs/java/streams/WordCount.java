package interop;

import static org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse.SHUTDOWN_CLIENT;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.streams.KafkaStreams;

/**
 * Kafka Streams against a broker: {@code WordCount GUARANTEE PROTOCOL BOOTSTRAP TOPIC APPLICATION}, the guarantee being at_least_once
 * or exactly_once_v2, and the protocol of the group classic or streams.
 *
 * <p>Words are grouped through a repartition topic and counted in a store with a changelog topic. The application is stopped half way; the
 * next one begins without its files, so that it has its counts from the changelog and its place from the group. The last line of the output
 * is JSON: the counts that arrived last, and the topics that Streams made for itself with how each is cleaned up.
 */
public final class WordCount {
    private static final int HALF = 200;
    private static final Duration LEAVING = Duration.ofSeconds(20);

    private final Clients clients;
    private final String bootstrap;
    private final String guarantee;
    private final String protocol;
    private final String in;
    private final String out;
    private final String application;
    private final Map<String, Long> counts = new TreeMap<>();
    private final AtomicReference<Throwable> fault = new AtomicReference<>();

    private WordCount(String guarantee, String protocol, String bootstrap, String topic, String application) {
        this.clients = new Clients(bootstrap);
        this.bootstrap = bootstrap;
        this.guarantee = guarantee;
        this.protocol = protocol;
        this.in = topic;
        this.out = topic + "-counts";
        this.application = application;
    }

    public static void main(String[] words) {
        Program.limit();
        Report report = new Report("kafka-streams " + Report.version(), words[0]);
        WordCount program = new WordCount(words[0], words[1], words[2], words[3], words[4]);
        report.look("count", program::count);
        report.put("counts", program.counts);
        report.look("internal_topics", () -> report.put("topics", program.internalTopics()));
        System.out.println(report);
        System.exit(report.whole() ? 0 : 1);
    }

    private void count() throws Exception {
        try (AdminClient admin = clients.admin()) {
            admin.createTopics(List.of(new NewTopic(in, 2, (short) 1), new NewTopic(out, 2, (short) 1))).all().get();
        }
        Map<String, String> committed = Map.of("isolation.level", "read_committed");
        try (KafkaConsumer<byte[], byte[]> reader = clients.consumer(application + "-reader", committed)) {
            reader.subscribe(List.of(out));
            for (int half = 1; half <= 2; half++) {
                write((half - 1) * HALF, half * HALF);
                run(reader, half * HALF);
            }
        }
    }

    /** Line n is "every word counts w(n%7)". */
    private void write(int first, int end) throws Exception {
        Future<RecordMetadata> last = null;
        try (KafkaProducer<byte[], byte[]> producer = clients.producer(Map.of())) {
            for (int n = first; n < end; n++) {
                byte[] line = Promise.bytes("every word counts w" + n % 7);
                last = producer.send(new ProducerRecord<>(in, Promise.bytes("" + n), line));
            }
        }
        last.get();
    }

    /** The application, from an empty folder, until so many lines are counted. */
    private void run(KafkaConsumer<byte[], byte[]> reader, long lines) throws Exception {
        Path folder = Files.createTempDirectory("word-count-");
        Properties settings = Topologies.settings(application, bootstrap, guarantee, protocol, folder);
        try (KafkaStreams streams = new KafkaStreams(Topologies.wordCount(in, out), settings)) {
            streams.setUncaughtExceptionHandler(thrown -> {
                fault.set(thrown);
                return SHUTDOWN_CLIENT;
            });
            streams.start();
            Patience.until(lines + " lines", () -> fault.get() != null || counted(lines), () -> poll(reader));
            streams.close(LEAVING);
        } finally {
            remove(folder);
        }
        if (fault.get() != null) {
            throw new IllegalStateException(root(fault.get()));
        }
    }

    private boolean counted(long lines) {
        return counts.getOrDefault("every", 0L) >= lines && counts.values().stream().mapToLong(n -> n).sum() >= 4 * lines;
    }

    private void poll(KafkaConsumer<byte[], byte[]> reader) {
        try (LongDeserializer number = new LongDeserializer()) {
            for (ConsumerRecord<byte[], byte[]> one : reader.poll(Duration.ofMillis(100))) {
                counts.put(new String(one.key()), number.deserialize(out, one.value()));
            }
        }
    }

    /** The topics that are named after the application, by what follows its name, with their cleanup.policy. */
    private Map<String, String> internalTopics() throws Exception {
        Map<String, String> found = new TreeMap<>();
        try (AdminClient admin = clients.admin()) {
            for (String name : admin.listTopics().names().get()) {
                if (name.startsWith(application + "-")) {
                    found.put(name.substring(application.length() + 1), cleanup(admin, name));
                }
            }
        }
        return found;
    }

    private static String cleanup(AdminClient admin, String topic) throws Exception {
        ConfigResource asked = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        return admin.describeConfigs(List.of(asked)).all().get().get(asked).get("cleanup.policy").value();
    }

    private static Throwable root(Throwable thrown) {
        return thrown.getCause() == null ? thrown : root(thrown.getCause());
    }

    private static void remove(Path folder) throws Exception {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path one : (Iterable<Path>) all.sorted(Comparator.reverseOrder())::iterator) {
                Files.delete(one);
            }
        }
    }
}
