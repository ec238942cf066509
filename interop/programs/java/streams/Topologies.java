package interop;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Produced;

/** The word count of the programs, and its settings. */
final class Topologies {
    private Topologies() {}

    /** Groups words through a repartition topic, and counts them in a store with a changelog topic. */
    static Topology wordCount(String in, String out) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(in, Consumed.with(Serdes.String(), Serdes.String()))
            .flatMapValues(line -> Arrays.asList(line.split(" ")))
            .groupBy((key, word) -> word, Grouped.with(Serdes.String(), Serdes.String()))
            .count()
            .toStream()
            .to(out, Produced.with(Serdes.String(), Serdes.Long()));
        return builder.build();
    }

    /** The protocol is that of the group: classic or streams. */
    static Properties settings(String application, String bootstrap, String guarantee, String protocol, Path folder) {
        Properties given = new Properties();
        given.put("group.protocol", protocol);
        given.put("application.id", application);
        if (protocol.equals("classic")) { // Streams has no static members with its own protocol
            given.put("group.instance.id", application); // a member that joins again under this name need not wait for the end of the old session
        }
        given.put("bootstrap.servers", bootstrap);
        given.put("processing.guarantee", guarantee);
        given.put("commit.interval.ms", "100");
        given.put("auto.offset.reset", "earliest");
        given.put("state.dir", folder.toString());
        return given;
    }
}
