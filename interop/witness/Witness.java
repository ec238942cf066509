import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.KRaftVersionRecord;
import org.apache.kafka.common.message.LeaderChangeMessage;
import org.apache.kafka.common.message.SnapshotFooterRecord;
import org.apache.kafka.common.message.SnapshotHeaderRecord;
import org.apache.kafka.common.message.VotersRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.BaseRecords;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.requests.ApiVersionsResponse;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.share.ShareCoordinatorRecordSerde;
import org.apache.kafka.coordinator.transaction.TransactionCoordinatorRecordSerde;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.server.common.serialization.AbstractApiMessageSerde;
import org.apache.kafka.server.log.remote.metadata.storage.generated.MetadataRecordType;

/**
 * Kafka's own codecs as a filter: one line in, one line out, words parted by tabs. Bytes are hex; messages have the names of their specifications.
 * A word of an answer is "=" when it would repeat what was asked, and begins with "!" when Kafka threw something.
 *
 *   message NAME VERSION HEX JSON   -> the bytes of the JSON; the bytes, read and written again; the JSON of the bytes
 *   rewrite NAME VERSION HEX        -> the bytes, read and written again; how many bytes were not read
 *   framed FAMILY HEX               -> NAME VERSION; a framed metadata record, read and written again by Kafka's serde
 *   record FAMILY KEY VALUE         -> NAME NAME VERSION; the key, the value, read and written again by the coordinator's serde
 *   batches HEX                     -> every batch with its records as JSON, the checksums verified
 *   build JSON                      -> a batch of these records, made by Kafka's builder
 *   control JSON                    -> a control batch, made by Kafka's own maker of its type
 *   list                            -> {name: [jar, lowest version, highest version]}
 *   advertised                      -> {node: {key: [lowest, highest]}}, as ApiVersions lists them; the nodes: "broker", "broker with telemetry", "controller"
 *   apis                            -> {key: [name, lowest, highest, highest with unstable ones, listeners, {version: [request header, response header]}]}
 */
public class Witness {
    static final JsonMapper JSON = JsonMapper.builder()
        .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).disable(JsonWriteFeature.WRITE_NAN_AS_STRINGS).build();
    static final HexFormat HEX = HexFormat.of();
    static final Map<String, Kind> KINDS = new TreeMap<>();
    static final Map<String, AbstractApiMessageSerde> FRAMES = Map.of(
        "metadata", new MetadataRecordSerde(),
        "storage", new AbstractApiMessageSerde() {
            @Override
            public ApiMessage apiMessageFor(short key) {
                return MetadataRecordType.fromId(key).newMetadataRecord();
            }
        });
    static final Map<String, CoordinatorRecordSerde> COORDINATORS = Map.of(
        "group_coordinator", new GroupCoordinatorRecordSerde(),
        "transaction_coordinator", new TransactionCoordinatorRecordSerde(),
        "share_coordinator", new ShareCoordinatorRecordSerde());

    /** A generated message: its maker, its JSON converter's two methods, whether it carries records, the jar that it comes from. */
    record Kind(Constructor<?> maker, Method toJson, Method fromJson, boolean carriesRecords, String jar) {
        ApiMessage make() throws ReflectiveOperationException {
            return (ApiMessage) maker.newInstance();
        }

        ApiMessage read(ByteBuffer bytes, short version) throws ReflectiveOperationException {
            ApiMessage message = make();
            message.read(new ByteBufferAccessor(bytes), version);
            return message;
        }

        String json(ApiMessage message, short version) throws Exception {
            JsonNode tree = (JsonNode) toJson.invoke(null, message, version, true);
            if (carriesRecords) putRecords(tree, message);
            return JSON.writeValueAsString(tree);
        }

        ApiMessage parse(String json, short version) throws Exception {
            return (ApiMessage) fromJson.invoke(null, JSON.readTree(json), version);
        }
    }

    static void findMessages() throws Exception {
        for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
            String jar = Path.of(path).getFileName().toString();
            if (!jar.startsWith("kafka-") || !jar.endsWith(".jar")) continue;
            try (JarFile file = new JarFile(path)) {
                for (var entry : Collections.list(file.entries())) {
                    String name = entry.getName();
                    if (!name.endsWith("JsonConverter.class") || name.contains("$")) continue;
                    addKind(Class.forName(name.replace('/', '.').replace(".class", "")), jar);
                }
            }
        }
    }

    static void addKind(Class<?> converter, String jar) throws Exception {
        Class<?> data = Class.forName(converter.getName().replace("JsonConverter", ""));
        boolean records = Stream.concat(Stream.of(data), Arrays.stream(data.getDeclaredClasses()))
            .flatMap(part -> Arrays.stream(part.getDeclaredFields())).anyMatch(field -> BaseRecords.class.isAssignableFrom(field.getType()));
        KINDS.put(data.getSimpleName().replaceAll("(Request|Response|Header)Data$", "$1"), new Kind(data.getConstructor(),
            converter.getMethod("write", data, short.class, boolean.class), converter.getMethod("read", JsonNode.class, short.class), records, jar));
    }

    static Kind kind(String name) {
        Kind kind = KINDS.get(name);
        if (kind == null) throw new IllegalArgumentException("no message " + name);
        return kind;
    }

    /** Kafka's converters read records from base64 and write them as an empty text: this puts their bytes there. */
    static void putRecords(JsonNode tree, Object message) throws Exception {
        for (var field : tree.properties()) {
            if (!field.getValue().isContainerNode() && !field.getValue().isBinary()) continue;
            Object value = message.getClass().getMethod(field.getKey()).invoke(message);
            if (value instanceof BaseRecords) {
                ByteBuffer buffer = (ByteBuffer) value.getClass().getMethod("buffer").invoke(value);
                ((ObjectNode) tree).put(field.getKey(), bytesOf(buffer));
            } else if (value instanceof Collection<?> items) {
                int at = 0;
                for (Object item : items) {
                    if (item instanceof Message) putRecords(field.getValue().get(at), item);
                    at++;
                }
            } else if (value instanceof Message struct) {
                putRecords(field.getValue(), struct);
            }
        }
    }

    static byte[] bytesOf(ByteBuffer buffer) {
        if (buffer == null) return null;
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    static ByteBuffer unhex(String hex) {
        return ByteBuffer.wrap(HEX.parseHex(hex));
    }

    static String write(ApiMessage message, short version) {
        var cache = new ObjectSerializationCache();
        var buffer = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(buffer), cache, version);
        if (buffer.hasRemaining()) throw new IllegalStateException("size() said " + buffer.remaining() + " bytes more");
        return HEX.formatHex(buffer.array());
    }

    /** One word of an answer: what the work gives, "=" when that is what was asked, or what it threw. */
    static String word(String asked, Callable<String> work) {
        try {
            String got = work.call();
            return got.equals(asked) ? "=" : got;
        } catch (InvocationTargetException thrown) {
            return "!" + line(thrown.getCause());
        } catch (Throwable thrown) {
            return "!" + line(thrown);
        }
    }

    static String line(Throwable thrown) {
        return thrown.toString().replaceAll("[\\t\\r\\n]", " ");
    }

    static String message(String name, short version, String hex, String json) {
        Kind kind = kind(name);
        return String.join("\t",
            word(hex, () -> write(kind.parse(json, version), version)),
            word(hex, () -> write(kind.read(unhex(hex), version), version)),
            word(json, () -> kind.json(kind.read(unhex(hex), version), version)));
    }

    static String rewrite(String name, short version, String hex) {
        ByteBuffer bytes = unhex(hex);
        return word(hex, () -> write(kind(name).read(bytes, version), version)) + "\t" + bytes.remaining();
    }

    static String framed(String family, String hex) {
        var serde = FRAMES.get(family);
        ByteBuffer bytes = unhex(hex);
        var record = serde.read(new ByteBufferAccessor(bytes), bytes.remaining());
        return record.message().getClass().getSimpleName() + " " + record.version() + "\t" + word(hex, () -> {
            var cache = new ObjectSerializationCache();
            var out = ByteBuffer.allocate(serde.recordSize(record, cache));
            serde.write(record, cache, new ByteBufferAccessor(out));
            return HEX.formatHex(out.array());
        });
    }

    static String record(String family, String key, String value) {
        var serde = COORDINATORS.get(family);
        var record = serde.deserialize(unhex(key), unhex(value));
        String names = record.key().getClass().getSimpleName() + " " + record.value().message().getClass().getSimpleName() + " " + record.value().version();
        return String.join("\t", names,
            word(key, () -> HEX.formatHex(serde.serializeKey(record))), word(value, () -> HEX.formatHex(serde.serializeValue(record))));
    }

    static String batches(String hex) throws Exception {
        ArrayNode all = JSON.createArrayNode();
        for (MutableRecordBatch batch : MemoryRecords.readableRecords(unhex(hex)).batches()) {
            batch.ensureValid();
            ObjectNode out = all.addObject();
            out.put("baseOffset", batch.baseOffset()).put("lastOffset", batch.lastOffset()).put("nextOffset", batch.nextOffset());
            out.put("size", batch.sizeInBytes()).put("magic", batch.magic()).put("crc", batch.checksum());
            out.put("leaderEpoch", batch.partitionLeaderEpoch()).put("count", batch.countOrNull());
            out.put("codec", batch.compressionType().name).put("timestampType", batch.timestampType().id).put("maxTimestamp", batch.maxTimestamp());
            out.put("producerId", batch.producerId()).put("producerEpoch", batch.producerEpoch());
            out.put("baseSequence", batch.baseSequence()).put("lastSequence", batch.lastSequence());
            out.put("transactional", batch.isTransactional()).put("control", batch.isControlBatch());
            out.put("deleteHorizon", batch.deleteHorizonMs().isPresent() ? (Long) batch.deleteHorizonMs().getAsLong() : null);
            ArrayNode records = out.putArray("records");
            for (Record record : batch) {
                record.ensureValid();
                addRecord(records.addArray(), record, batch.isControlBatch());
            }
        }
        return JSON.writeValueAsString(all);
    }

    static void addRecord(ArrayNode row, Record record, boolean control) {
        row.add(record.offset()).add(record.timestamp()).add(bytesOf(record.key())).add(bytesOf(record.value()));
        ArrayNode headers = row.addArray();
        for (Header header : record.headers()) headers.addArray().add(header.key()).add(header.value());
        if (control) row.add(ControlRecordType.parse(record.key()).toString());
    }

    static String build(JsonNode asked) throws Exception {
        var codec = Compression.of(CompressionType.forId(asked.get("codec").intValue())).build();
        var type = asked.get("timestampType").intValue() == 1 ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME;
        var builder = MemoryRecords.builder(ByteBuffer.allocate(1024), (byte) asked.get("magic").intValue(), codec, type,
            asked.get("baseOffset").longValue(), asked.get("appendTime").longValue(), asked.get("producerId").longValue(),
            (short) asked.get("producerEpoch").intValue(), asked.get("baseSequence").intValue(), asked.get("transactional").booleanValue(),
            asked.get("control").booleanValue(), asked.get("leaderEpoch").intValue());
        for (JsonNode row : asked.get("records")) {
            var record = new SimpleRecord(row.get(1).longValue(), bytes(row.get(2)), bytes(row.get(3)), headers(row.get(4)));
            if (asked.get("control").booleanValue()) builder.appendControlRecordWithOffset(row.get(0).longValue(), record);
            else builder.appendWithOffset(row.get(0).longValue(), record);
        }
        return HEX.formatHex(bytesOf(builder.build().buffer()));
    }

    static byte[] bytes(JsonNode node) throws Exception {
        return node.isNull() ? null : node.binaryValue();
    }

    static Header[] headers(JsonNode rows) throws Exception {
        var headers = new Header[rows.size()];
        for (int at = 0; at < headers.length; at++) headers[at] = new RecordHeader(rows.get(at).get(0).textValue(), bytes(rows.get(at).get(1)));
        return headers;
    }

    static String control(JsonNode asked) throws Exception {
        String type = asked.get("type").textValue();
        long offset = asked.get("offset").longValue();
        long time = asked.get("timestamp").longValue();
        int epoch = asked.get("leaderEpoch").intValue();
        ByteBuffer room = ByteBuffer.allocate(4096);
        MemoryRecords made;
        if (type.equals("ABORT") || type.equals("COMMIT")) {
            var marker = new EndTransactionMarker(ControlRecordType.valueOf(type), asked.get("coordinatorEpoch").intValue());
            made = MemoryRecords.withEndTransactionMarker(offset, time, epoch, asked.get("producerId").longValue(),
                (short) asked.get("producerEpoch").intValue(), marker);
        } else {
            String name = asked.get("message").textValue();
            Object message = kind(name).parse(asked.get("json").toString(), (short) 0);
            made = switch (type) {
                case "LEADER_CHANGE" -> MemoryRecords.withLeaderChangeMessage(offset, time, epoch, room, (LeaderChangeMessage) message);
                case "SNAPSHOT_HEADER" -> MemoryRecords.withSnapshotHeaderRecord(offset, time, epoch, room, (SnapshotHeaderRecord) message);
                case "SNAPSHOT_FOOTER" -> MemoryRecords.withSnapshotFooterRecord(offset, time, epoch, room, (SnapshotFooterRecord) message);
                case "KRAFT_VERSION" -> MemoryRecords.withKRaftVersionRecord(offset, time, epoch, room, (KRaftVersionRecord) message);
                case "KRAFT_VOTERS" -> MemoryRecords.withVotersRecord(offset, time, epoch, room, (VotersRecord) message);
                default -> throw new IllegalArgumentException("no control record " + type);
            };
        }
        return HEX.formatHex(bytesOf(made.buffer()));
    }

    static String list() throws Exception {
        var all = new TreeMap<String, Object>();
        for (var entry : KINDS.entrySet()) {
            ApiMessage message = entry.getValue().make();
            all.put(entry.getKey(), List.of(entry.getValue().jar(), message.lowestSupportedVersion(), message.highestSupportedVersion()));
        }
        return JSON.writeValueAsString(all);
    }

    static String apis() throws Exception {
        var all = new TreeMap<Short, Object>();
        for (var api : ApiMessageType.values()) {
            var headers = new HashMap<Integer, Object>();
            for (int v = Math.max(0, api.lowestSupportedVersion()); v <= api.highestSupportedVersion(true); v++)
                headers.put(v, List.of(api.requestHeaderVersion((short) v), api.responseHeaderVersion((short) v)));
            all.put(api.apiKey(), List.of(api.name, api.lowestSupportedVersion(), api.highestSupportedVersion(false),
                api.highestSupportedVersion(true), api.listeners(), headers));
        }
        return JSON.writeValueAsString(all);
    }

    static Map<Short, Object> advertisedBy(ApiMessageType.ListenerType listener, boolean telemetry) {
        var all = new TreeMap<Short, Object>();
        for (var api : ApiVersionsResponse.filterApis(listener, false, telemetry))
            all.put(api.apiKey(), List.of(api.minVersion(), api.maxVersion()));
        return all;
    }

    static String advertised() throws Exception {
        return JSON.writeValueAsString(Map.of(
            "broker", advertisedBy(ApiMessageType.ListenerType.BROKER, false),
            "broker with telemetry", advertisedBy(ApiMessageType.ListenerType.BROKER, true),
            "controller", advertisedBy(ApiMessageType.ListenerType.CONTROLLER, false)));
    }

    static String answer(String[] word) throws Exception {
        return switch (word[0]) {
            case "message" -> message(word[1], Short.parseShort(word[2]), word[3], word[4]);
            case "rewrite" -> rewrite(word[1], Short.parseShort(word[2]), word[3]);
            case "framed" -> framed(word[1], word[2]);
            case "record" -> record(word[1], word[2], word[3]);
            case "batches" -> batches(word[1]);
            case "build" -> build(JSON.readTree(word[1]));
            case "control" -> control(JSON.readTree(word[1]));
            case "list" -> list();
            case "apis" -> apis();
            case "advertised" -> advertised();
            default -> throw new IllegalArgumentException("unknown verb " + word[0]);
        };
    }

    public static void main(String[] arguments) throws Exception {
        var out = new PrintStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16), false, StandardCharsets.UTF_8);
        System.setOut(System.err);  // whatever a library has to say, it is no answer
        findMessages();
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 20);
        for (String line; (line = in.readLine()) != null; ) {
            String[] asked = line.split("\t", -1);
            out.print(word(null, () -> answer(asked)) + "\n");
            if (!in.ready()) out.flush();
        }
        out.flush();
    }
}
