package io.github.kafkadouble;

import com.google.gson.FieldNamingPolicy;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonDeserializer;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import com.google.gson.JsonSerializer;
import com.google.gson.TypeAdapter;
import com.google.gson.TypeAdapterFactory;
import com.google.gson.reflect.TypeToken;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;

/** The JSON of the control plane: snake_case, pairs as lists, bytes as a text or as base64. */
final class Json {
    private Json() {}

    static final Gson GSON = new GsonBuilder()
            .serializeNulls()
            .setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES)
            .registerTypeAdapterFactory(new NullObjects())
            .registerTypeAdapter(byte[].class, new Bytes())
            .registerTypeHierarchyAdapter(
                    Duration.class,
                    (JsonSerializer<Duration>) (value, type, context) -> new JsonPrimitive(value.toNanos() / 1e9))
            .registerTypeAdapter(
                    Header.class,
                    (JsonSerializer<Header>) (value, type, context) -> pair(
                            new JsonPrimitive(value.key()), context.serialize(value.value(), byte[].class)))
            .registerTypeAdapter(
                    TopicPartition.class,
                    (JsonSerializer<TopicPartition>) (value, type, context) -> pair(
                            new JsonPrimitive(value.topic()), new JsonPrimitive(value.partition())))
            .registerTypeAdapter(
                    Header.class,
                    (JsonDeserializer<Header>) (json, type, context) -> {
                        JsonArray pair = json.getAsJsonArray();
                        return new Header(pair.get(0).getAsString(), context.deserialize(pair.get(1), byte[].class));
                    })
            .registerTypeAdapter(
                    TopicPartition.class,
                    (JsonDeserializer<TopicPartition>) (json, type, context) -> {
                        JsonArray pair = json.getAsJsonArray();
                        return new TopicPartition(pair.get(0).getAsString(), pair.get(1).getAsInt());
                    })
            .create();

    private static JsonArray pair(JsonElement first, JsonElement second) {
        JsonArray made = new JsonArray();
        made.add(first);
        made.add(second);
        return made;
    }

    static JsonObject object(Param[] params, Param... required) {
        JsonObject made = new JsonObject();
        for (Param each : required) {
            made.add(each.name(), tree(each.name(), each.value()));
        }
        if (params != null) {
            for (Param each : params) {
                made.add(each.name(), tree(each.name(), each.value()));
            }
        }
        return made;
    }

    /**
     * The JSON of a value. Gson writes a lambda as an empty object, and an object of an anonymous class
     * as null; both are refused here, and a map or a list of an anonymous class is what it holds.
     */
    private static JsonElement tree(String name, Object value) {
        if (value instanceof Map<?, ?> map) {
            return object(name, map);
        }
        if (value instanceof Iterable<?> list && !(value instanceof JsonElement)) {
            return array(name, list);
        }
        if (value instanceof Object[] array) {
            return array(name, Arrays.asList(array));
        }
        JsonElement made = GSON.toJsonTree(value);
        boolean isNull = made.isJsonNull() && value != null && !(value instanceof JsonElement);
        if (isNull || value != null && value.getClass().isHidden()) {
            throw new UsageException(name + " is a value of the class " + value.getClass().getName()
                    + ", which has no form in JSON: give a text, a number, a list, a map, or what a verb returned");
        }
        return made;
    }

    private static JsonArray array(String name, Iterable<?> list) {
        JsonArray made = new JsonArray();
        list.forEach(each -> made.add(tree(name, each)));
        return made;
    }

    /** A map by partition is one by topic and partition. */
    private static JsonObject object(String name, Map<?, ?> map) {
        JsonObject made = new JsonObject();
        map.forEach((key, value) -> {
            if (key instanceof TopicPartition at) {
                if (!made.has(at.topic())) {
                    made.add(at.topic(), new JsonObject());
                }
                made.getAsJsonObject(at.topic()).add(Integer.toString(at.partition()), tree(name, value));
            } else {
                made.add(String.valueOf(key), tree(name, value));
            }
        });
        return made;
    }

    /**
     * Reads a record whose field is an object of JSON or null. Gson makes a JsonNull of a null in a
     * JsonElement, which is no JsonObject; a field that is not there is null.
     */
    private static final class NullObjects implements TypeAdapterFactory {
        @Override
        public <T> TypeAdapter<T> create(Gson gson, TypeToken<T> type) {
            RecordComponent[] components = type.getRawType().getRecordComponents();
            if (components == null || Arrays.stream(components).noneMatch(NullObjects::isObject)) {
                return null;
            }
            TypeAdapter<T> usual = gson.getDelegateAdapter(this, type);
            return new TypeAdapter<>() {
                @Override
                public void write(JsonWriter out, T value) throws IOException {
                    usual.write(out, value);
                }

                @Override
                public T read(JsonReader in) {
                    JsonElement found = JsonParser.parseReader(in);
                    if (found instanceof JsonObject object) {
                        object.entrySet().removeIf(each -> each.getValue().isJsonNull());
                    }
                    return usual.fromJsonTree(found);
                }
            };
        }

        private static boolean isObject(RecordComponent component) {
            return component.getType() == JsonObject.class;
        }
    }

    /** Bytes: a text if they are UTF-8, and otherwise {"base64": "..."}. */
    private static final class Bytes extends TypeAdapter<byte[]> {
        @Override
        public void write(JsonWriter out, byte[] value) throws IOException {
            if (value == null) {
                out.nullValue();
            } else {
                out.beginObject().name("base64").value(Base64.getEncoder().encodeToString(value)).endObject();
            }
        }

        @Override
        public byte[] read(JsonReader in) throws IOException {
            if (in.peek() == JsonToken.NULL) {
                in.nextNull();
                return null;
            }
            if (in.peek() == JsonToken.STRING) {
                return in.nextString().getBytes(StandardCharsets.UTF_8);
            }
            in.beginObject();
            in.nextName();
            byte[] value = Base64.getDecoder().decode(in.nextString());
            in.endObject();
            return value;
        }
    }
}
