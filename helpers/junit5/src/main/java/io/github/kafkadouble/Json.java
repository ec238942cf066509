package io.github.kafkadouble;

import com.google.gson.FieldNamingPolicy;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonDeserializer;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import com.google.gson.JsonSerializer;
import com.google.gson.TypeAdapter;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.JsonWriter;
import io.github.kafkadouble.Types.Header;
import io.github.kafkadouble.Types.TopicPartition;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;

/** The JSON of the control plane: snake_case, pairs as lists, bytes as a text or as base64. */
final class Json {
    private Json() {}

    static final Gson GSON = new GsonBuilder()
            .serializeNulls()
            .setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES)
            .registerTypeAdapter(byte[].class, new Bytes())
            .registerTypeHierarchyAdapter(
                    Duration.class,
                    (JsonSerializer<Duration>) (value, type, context) -> new JsonPrimitive(value.toNanos() / 1e9))
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

    static JsonObject object(Param[] params, Param... required) {
        JsonObject made = new JsonObject();
        for (Param each : required) {
            made.add(each.name(), tree(each.value()));
        }
        if (params != null) {
            for (Param each : params) {
                made.add(each.name(), tree(each.value()));
            }
        }
        return made;
    }

    private static JsonElement tree(Object value) {
        return GSON.toJsonTree(value);
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
