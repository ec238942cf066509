import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;

/** Writes the .bin files beside it: every magic with every codec that it has. Run by: java -cp 'the jars of Kafka 4.4.0' Write.java FOLDER */
public class Write {
    static final String[] NAMES = {"none", "gzip", "snappy", "lz4", "zstd"};
    static final Compression[] CODECS = {
        Compression.NONE, Compression.gzip().build(), Compression.snappy().build(), Compression.lz4().build(), Compression.zstd().build()
    };

    public static void main(String[] arguments) throws Exception {
        for (byte magic = 0; magic <= 2; magic++)
            for (int codec = 0; codec < (magic == 2 ? 5 : 4); codec++)
                Files.write(Path.of(arguments[0], "magic" + magic + "-" + NAMES[codec] + ".bin"), twoBatches(magic, CODECS[codec]));
    }

    /** Four records at offset 1000 with their own timestamps, four at 11000 stamped 7777 by the broker. */
    static byte[] twoBatches(byte magic, Compression codec) {
        ByteBuffer buffer = ByteBuffer.allocate(1024);
        buffer = fourRecords(buffer, magic, codec, magic == 0 ? TimestampType.NO_TIMESTAMP_TYPE : TimestampType.CREATE_TIME, 1000);
        buffer = fourRecords(buffer, magic, codec, magic == 0 ? TimestampType.NO_TIMESTAMP_TYPE : TimestampType.LOG_APPEND_TIME, 11000);
        byte[] bytes = new byte[buffer.flip().remaining()];
        buffer.get(bytes);
        return bytes;
    }

    static ByteBuffer fourRecords(ByteBuffer buffer, byte magic, Compression codec, TimestampType type, long baseOffset) {
        MemoryRecordsBuilder builder = MemoryRecords.builder(buffer, magic, codec, type, baseOffset, 7777L);
        append(builder, magic, 5000, null, "value number 0 of many", false);
        append(builder, magic, 6000, "k1", "value number 1 of many", true);
        append(builder, magic, 7000, "k2", null, false);
        append(builder, magic, 8000, null, "", true);
        builder.build();
        return builder.buffer();
    }

    static void append(MemoryRecordsBuilder builder, byte magic, long timestamp, String key, String value, boolean headers) {
        byte[] keyBytes = key == null ? null : key.getBytes(), valueBytes = value == null ? null : value.getBytes();
        Header[] two = {new RecordHeader("h", null), new RecordHeader("h", "x".getBytes())};
        if (magic < 2)
            builder.append(magic == 0 ? -1 : timestamp, keyBytes, valueBytes);
        else
            builder.append(timestamp, keyBytes, valueBytes, headers ? two : new Header[0]);
    }
}
