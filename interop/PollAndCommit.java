import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.consumer.*;

/** Polls and commits, and ends with the first exception. Arguments: bootstrap servers, group protocol, reset policy. */
public class PollAndCommit {
    public static void main(String[] words) {
        var settings = new HashMap<String, Object>();
        settings.put("bootstrap.servers", words[0]);
        settings.put("group.protocol", words[1]);
        settings.put("group.id", "g");
        settings.put("auto.offset.reset", words[2]);
        settings.put("enable.auto.commit", "false");
        settings.put("key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        settings.put("value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        try (var consumer = new KafkaConsumer<String, String>(settings)) {
            consumer.subscribe(List.of("orders"));
            while (true) {
                for (var record : consumer.poll(Duration.ofMillis(50))) {
                    System.out.println("record " + record.value());
                }
                consumer.commitSync();
            }
        } catch (Throwable problem) {
            System.out.println("died " + problem);
            System.exit(1);
        }
    }
}
