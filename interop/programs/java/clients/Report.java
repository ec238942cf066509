package interop;

import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.StringJoiner;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.errors.UnsupportedVersionException;

/** What a program saw, by behaviour, and the line of JSON that it ends with. */
final class Report {
    static final String PASS = "pass";
    static final String NOT_OFFERED = "not offered";
    static final String NOT_TRIED = "not tried";

    private final String client;
    private final String verb;
    private final Map<String, String> behaviours = new LinkedHashMap<>();
    private final Map<String, Object> further = new LinkedHashMap<>();

    Report(String client, String verb) {
        this.client = client;
        this.verb = verb;
    }

    /** A step of a program; that it returns means that what it is for was seen. */
    interface Step {
        void run() throws Exception;
    }

    /** A fault is written down, and the program goes on as far as it gets. What the broker does not announce, it does not offer. */
    void look(String behaviour, Step step) {
        try {
            step.run();
            behaviours.put(behaviour, PASS);
        } catch (Exception | AssertionError fault) {
            Throwable cause = fault instanceof ExecutionException ? fault.getCause() : fault;
            behaviours.put(behaviour, cause instanceof UnsupportedVersionException ? NOT_OFFERED : "fail: " + cause);
        }
    }

    void tell(String behaviour, String outcome) {
        behaviours.put(behaviour, outcome);
    }

    void put(String name, Object value) {
        further.put(name, value);
    }

    boolean whole() {
        return behaviours.values().stream().noneMatch(outcome -> outcome.startsWith("fail"));
    }

    @Override
    public String toString() {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("client", client);
        all.put("version", version());
        all.put("verb", verb);
        all.put("behaviours", behaviours);
        all.putAll(further);
        return json(all);
    }

    /** Kafka's own; the class that knows it is not in the same place in every release, its source is. */
    static String version() {
        Properties known = new Properties();
        try (InputStream source = Report.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            known.load(source);
        } catch (IOException | NullPointerException absent) {
            return "unknown";
        }
        return known.getProperty("version");
    }

    private static String json(Object value) {
        if (value instanceof Map) {
            StringJoiner all = new StringJoiner(", ", "{", "}");
            ((Map<?, ?>) value).forEach((key, one) -> all.add(json(key) + ": " + json(one)));
            return all.toString();
        }
        return value instanceof Number ? value.toString() : quoted(value.toString());
    }

    private static String quoted(String text) {
        StringBuilder made = new StringBuilder("\"");
        for (char one : text.toCharArray()) {
            if (one == '"' || one == '\\') {
                made.append('\\').append(one);
            } else if (one < ' ' || one > '~') {
                made.append(String.format("\\u%04x", (int) one));
            } else {
                made.append(one);
            }
        }
        return made.append('"').toString();
    }
}
