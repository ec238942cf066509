package interop;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;

/**
 * The records that every client of the suite writes, and what is kept of those that it wrote or read: how many of each codec, and a digest that does
 * not depend on their order.
 */
final class Promise {
    static final List<String> CODECS = List.of("none", "gzip", "snappy", "lz4", "zstd");
    static final int EACH = 200;
    static final int PARTITIONS = 3;

    private static final String FILLING = "x".repeat(100);

    private final Map<String, Integer> seen = new TreeMap<>();
    private int digest;
    private int total;
    private String wrongHeaders = "";
    private String wrongNullHeader = "";

    /** Record n of a codec, its partition left to the producer. */
    static ProducerRecord<byte[], byte[]> record(String topic, String codec, int n) {
        byte[] key = n % 10 == 9 ? null : bytes("k" + n % 50);
        ProducerRecord<byte[], byte[]> made = new ProducerRecord<>(topic, key, bytes(codec + "-" + n + "-" + FILLING));
        made.headers().add("c", bytes(codec)).add("n", bytes("" + n)).add("null", null);
        return made;
    }

    /** A record that was written, and acknowledged. */
    void wrote(ProducerRecord<byte[], byte[]> record) {
        count(record.key(), text(record.value()));
    }

    void see(ConsumerRecord<byte[], byte[]> record) {
        String value = text(record.value());
        String[] parts = value.split("-", 3);
        count(record.key(), value);
        if (!parts[0].equals(header(record, "c")) || !parts[1].equals(header(record, "n"))) {
            wrongHeaders = value + " came with " + record.headers();
        }
        Header empty = record.headers().lastHeader("null");
        if (empty == null || empty.value() != null) {
            wrongNullHeader = value + " came with " + record.headers();
        }
    }

    private void count(byte[] key, String value) {
        String codec = value.substring(0, value.indexOf('-'));
        seen.merge(codec, 1, Integer::sum);
        total++;
        digest += fnv1a(codec + "|" + (key == null ? "-" : text(key)) + "|" + value);
    }

    Map<String, Integer> seen() {
        return seen;
    }

    int total() {
        return total;
    }

    long digest() {
        return digest & 0xffffffffL;
    }

    /** What was wrong with a header, else empty. */
    String wrongHeaders() {
        return wrongHeaders;
    }

    /** What the header without a value was not, else empty. */
    String wrongNullHeader() {
        return wrongNullHeader;
    }

    private static String header(ConsumerRecord<byte[], byte[]> record, String key) {
        Header found = record.headers().lastHeader(key);
        return found == null || found.value() == null ? "" : text(found.value());
    }

    private static int fnv1a(String text) {
        int hash = 0x811c9dc5;
        for (byte one : bytes(text)) {
            hash = (hash ^ one & 0xff) * 0x01000193;
        }
        return hash;
    }

    static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, UTF_8);
    }
}
