// Kafka's own consumer, reading one partition from its beginning and telling what happens to it, a line for each thing:
//     > record OFFSET EPOCH VALUE
//     > truncated POSITION DIVERGING_OFFSET DIVERGING_EPOCH      and it goes on where the histories part, as an application would
//     > failed EXCEPTION                                         and it ends
// It ends, too, when its input ends. Other lines are Kafka's log.

import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.LogTruncationException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

public class Reader {
    public static void main(String[] words) throws Exception {
        String bootstrap = words[0], reset = words[1], protocol = words[2];
        TopicPartition partition = new TopicPartition(words[3], 0);
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("client.id", "reader");
        settings.put("group.id", "g");
        settings.put("group.protocol", protocol);
        settings.put("enable.auto.commit", "false");
        settings.put("auto.offset.reset", reset);
        settings.put("key.deserializer", StringDeserializer.class);
        settings.put("value.deserializer", StringDeserializer.class);
        AtomicBoolean ended = new AtomicBoolean();
        Thread watch = new Thread(() -> untilItEnds(ended));
        watch.setDaemon(true);
        watch.start();
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings)) {
            consumer.assign(List.of(partition));
            consumer.seek(partition, 0);
            while (!ended.get()) {
                try {
                    for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                        say("record " + record.offset() + " " + record.leaderEpoch().orElse(-1) + " " + record.value());
                    }
                } catch (LogTruncationException truncated) {
                    var diverging = truncated.divergentOffsets().get(partition);
                    long position = truncated.offsetOutOfRangePartitions().get(partition);
                    say("truncated " + position + " " + diverging.offset() + " " + diverging.leaderEpoch().orElse(-1));
                    consumer.seek(partition, diverging);
                }
            }
            Runtime.getRuntime().halt(0); // no farewell: in a cluster that stands still it would be waited for
        } catch (Exception failure) {
            say("failed " + failure);
        }
    }

    private static void untilItEnds(AtomicBoolean ended) {
        try {
            while (System.in.read() >= 0) { }
        } catch (java.io.IOException gone) {
            // as good as the end
        }
        ended.set(true);
    }

    private static void say(String line) {
        System.out.println("> " + line);
        System.out.flush();
    }
}
