import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads all partitions of a topic to their ends with Kafka's consumer, and prints each record, and the end of each
 * partition, which is its last stable offset with read_committed. Keys and values are without spaces; "-" is null.
 */
public class Consumed {
    public static void main(String[] args) {
        Map<String, Object> settings = Map.of("bootstrap.servers", args[0], "isolation.level", args[2]);
        var bytes = new ByteArrayDeserializer();
        try (var consumer = new KafkaConsumer<>(settings, bytes, bytes)) {
            var places = consumer.partitionsFor(args[1]).stream()
                .map(found -> new TopicPartition(found.topic(), found.partition())).toList();
            consumer.assign(places);
            consumer.seekToBeginning(places);
            var ends = consumer.endOffsets(places);
            while (places.stream().anyMatch(place -> consumer.position(place) < ends.get(place))) {
                for (var record : consumer.poll(Duration.ofMillis(100))) {
                    System.out.println(String.join(" ", "record", String.valueOf(record.partition()),
                        String.valueOf(record.offset()), text(record.key()), text(record.value())));
                }
            }
            ends.forEach((place, end) -> System.out.println("end " + place.partition() + " " + end));
        }
    }

    private static String text(byte[] data) {
        return data == null ? "-" : new String(data, StandardCharsets.UTF_8);
    }
}
