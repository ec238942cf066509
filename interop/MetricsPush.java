import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Writes three records and reads them, with clients that push their metrics. Prints the client instance id of each, and keeps it until a line is read. */
public class MetricsPush {
    static final Duration LONG = Duration.ofSeconds(30);
    static final BufferedReader LINES = new BufferedReader(new InputStreamReader(System.in));

    public static void main(String[] words) throws Exception {
        String bootstrap = words[0], topic = words[1];
        var text = new StringSerializer();
        Map<String, Object> settings = Map.of("bootstrap.servers", bootstrap, "enable.metrics.push", true, "client.id", "java-producer");
        try (var producer = new KafkaProducer<>(settings, text, text)) {
            for (int number = 0; number < 3; number++)
                producer.send(new ProducerRecord<>(topic, "key", "value")).get();
            System.out.println("java-producer " + producer.clientInstanceId(LONG));
            LINES.readLine();
        }
        Map<String, Object> reading = Map.of("bootstrap.servers", bootstrap, "enable.metrics.push", true, "client.id", "java-consumer",
            "group.id", "readers", "auto.offset.reset", "earliest");
        try (var consumer = new KafkaConsumer<>(reading, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(topic));
            for (int seen = 0; seen < 3; ) seen += consumer.poll(LONG).count();
            System.out.println("java-consumer " + consumer.clientInstanceId(LONG));
            LINES.readLine();
        }
    }
}
