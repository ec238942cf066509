package interop;

import static org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse.SHUTDOWN_CLIENT;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.streams.KafkaStreams;

/**
 * The word count of Kafka Streams until its input ends: {@code EndlessWordCount GUARANTEE PROTOCOL BOOTSTRAP TOPIC APPLICATION
 * FOLDER COMMIT_INTERVAL_MS}.
 *
 * <p>It has no cache, so each word of a line is one result. The exit code is 0 if it has stopped cleanly. The folder has its state, with which
 * another process continues.
 */
public final class EndlessWordCount {
    private static final Duration LEAVING = Duration.ofSeconds(20);

    private EndlessWordCount() {}

    public static void main(String[] words) throws IOException {
        Properties settings = Topologies.settings(words[4], words[2], words[0], words[1], Path.of(words[5]));
        settings.put("commit.interval.ms", words[6]);
        // Longer than a broker takes to start. Apache Kafka aborts a transaction that times out while
        // its broker starts, takes its partitions for deleted, and skips the markers: it hangs.
        settings.put("producer.transaction.timeout.ms", "60000");
        settings.put("statestore.cache.max.bytes", "0");
        KafkaStreams streams = new KafkaStreams(Topologies.wordCount(words[3], words[3] + "-counts"), settings);
        streams.setUncaughtExceptionHandler(thrown -> {
            thrown.printStackTrace();
            return SHUTDOWN_CLIENT;
        });
        streams.start();
        System.in.readAllBytes();
        boolean failed = streams.state() == KafkaStreams.State.ERROR;
        System.exit(streams.close(LEAVING) && !failed ? 0 : 1);
    }
}
