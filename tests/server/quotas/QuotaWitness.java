// Asks Apache Kafka's own classes for quotas. One question per line of stdin, one answer per line of stdout, both JSON.
// {"kind": "rate", "samples": n, "seconds": s, "bound": b, "steps": [[op, value, now], ...]} -> what each step gives:
//     "record" -> the throttle time, "measure" -> the rate, "window" -> the window in ms
// {"kind": "bucket", ... the same ...}: "record" -> null, "measure" -> the tokens
// {"kind": "precedence", "quotas": [[user, client, bound or null], ...], "clients": [[user, client], ...]} -> [[user tag, client tag, limit or
//     null], ...]; a null user or client is the default, "" is none; a null bound removes a quota
// {"kind": "manager", "samples": n, "seconds": s, "quotas": [...], "steps": [[op, user, client, value, now], ...]}:
//     "record" -> the throttle time, "unrecord" -> null, "most" -> the largest value in the window, "strict" and "permissive" -> [refused,
//     throttle time] of a controller mutation
// Run by the tests as a single-file program, with Kafka's jars on the class path.

import com.fasterxml.jackson.databind.JsonNode;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.errors.ThrottlingQuotaExceededException;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.Quota;
import org.apache.kafka.common.metrics.QuotaViolationException;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.common.metrics.stats.Rate;
import org.apache.kafka.common.metrics.stats.TokenBucket;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.network.Session;
import org.apache.kafka.server.config.ClientQuotaManagerConfig;
import org.apache.kafka.server.quota.ClientQuotaEntity;
import org.apache.kafka.server.quota.ClientQuotaManager;
import org.apache.kafka.server.quota.ControllerMutationQuota;
import org.apache.kafka.server.quota.ControllerMutationQuotaManager;
import org.apache.kafka.server.quota.QuotaType;
import org.apache.kafka.server.quota.QuotaUtils;

public class QuotaWitness extends JsonWitness {
    static class Stepped implements Time {
        long now;
        public long milliseconds() { return now; }
        public long nanoseconds() { return now * 1000000; }
        public void sleep(long ms) { now += ms; }
    }

    public static void main(String[] args) throws Exception {
        run(QuotaWitness::answer);
    }

    static Object answer(JsonNode question) throws Exception {
        return switch (question.get("kind").asText()) {
            case "rate" -> rate(question);
            case "bucket" -> bucket(question);
            case "precedence" -> precedence(question);
            default -> manager(question);
        };
    }

    static MetricConfig config(JsonNode question) {
        return new MetricConfig().samples(question.get("samples").asInt()).timeWindow(question.get("seconds").asLong(), TimeUnit.SECONDS)
            .quota(Quota.upperBound(question.get("bound").asDouble()));
    }

    static Object rate(JsonNode question) {
        Stepped time = new Stepped();
        Metrics metrics = new Metrics(time);
        MetricConfig config = config(question);
        Rate rate = new Rate();
        Sensor sensor = metrics.sensor("s");
        sensor.add(metrics.metricName("rate", "g"), rate, config);
        List<Object> found = new ArrayList<>();
        for (JsonNode step : question.get("steps")) {
            long now = time.now = step.get(2).asLong();
            switch (step.get(0).asText()) {
                case "record" -> found.add(recorded(sensor, step.get(1).asDouble(), now));
                case "measure" -> found.add(rate.measure(config, now));
                default -> found.add(rate.windowSize(config, now));
            }
        }
        return found;
    }

    static long recorded(Sensor sensor, double value, long now) {
        try {
            sensor.record(value, now, true);
            return 0;
        } catch (QuotaViolationException violated) {
            return QuotaUtils.throttleTime(violated, now);
        }
    }

    static Object bucket(JsonNode question) {
        MetricConfig config = config(question);
        TokenBucket bucket = new TokenBucket();
        List<Object> found = new ArrayList<>();
        for (JsonNode step : question.get("steps")) {
            long now = step.get(2).asLong();
            if (step.get(0).asText().equals("record")) {
                bucket.record(config, step.get(1).asDouble(), now);
                found.add(null);
            } else {
                found.add(bucket.measure(config, now));
            }
        }
        return found;
    }

    static void set(ClientQuotaManager manager, JsonNode quotas) throws Exception {
        for (JsonNode quota : quotas) {
            JsonNode bound = quota.get(2);
            manager.updateQuota(entity(quota.get(0), true), entity(quota.get(1), false),
                bound.isNull() ? Optional.empty() : Optional.of(Quota.upperBound(bound.asDouble())));
        }
    }

    static Optional<ClientQuotaEntity.ConfigEntity> entity(JsonNode name, boolean isUser) throws Exception {
        if (name.isNull()) return Optional.of(isUser ? ClientQuotaManager.DEFAULT_USER_ENTITY : ClientQuotaManager.DEFAULT_USER_CLIENT_ID);
        if (name.asText().isEmpty()) return Optional.empty();
        return Optional.of(isUser ? new ClientQuotaManager.UserEntity(session(name.asText()).sanitizedUser) : new ClientQuotaManager.ClientIdEntity(name.asText()));
    }

    static Session session(String user) throws Exception {
        return new Session(new KafkaPrincipal(KafkaPrincipal.USER_TYPE, user), InetAddress.getLoopbackAddress());
    }

    static Object precedence(JsonNode question) throws Exception {
        Stepped time = new Stepped();
        ClientQuotaManager manager = new ClientQuotaManager(new ClientQuotaManagerConfig(), new Metrics(time), QuotaType.PRODUCE, time, "");
        set(manager, question.get("quotas"));
        List<Object> found = new ArrayList<>();
        for (JsonNode client : question.get("clients")) {
            String user = client.get(0).asText(), id = client.get(1).asText();
            Map<String, String> tags = manager.getOrCreateQuotaSensors(session(user), id).metricTags();
            double limit = manager.quota(user, id).bound();
            found.add(Arrays.asList(tags.get("user"), tags.get("client-id"), limit == Long.MAX_VALUE ? null : limit));
        }
        manager.shutdown();
        return found;
    }

    static Object manager(JsonNode question) throws Exception {
        Stepped time = new Stepped();
        time.now = question.get("steps").get(0).get(4).asLong();
        ClientQuotaManagerConfig config = new ClientQuotaManagerConfig(question.get("samples").asInt(), question.get("seconds").asInt());
        ClientQuotaManager manager = new ClientQuotaManager(config, new Metrics(time), QuotaType.PRODUCE, time, "");
        ControllerMutationQuotaManager mutations = new ControllerMutationQuotaManager(config, new Metrics(time), time, "", Optional.empty());
        set(manager, question.get("quotas"));
        set(mutations, question.get("quotas"));
        List<Object> found = new ArrayList<>();
        for (JsonNode step : question.get("steps")) {
            Session session = session(step.get(1).asText());
            String op = step.get(0).asText(), client = step.get(2).asText();
            double value = step.get(3).asDouble();
            long now = time.now = step.get(4).asLong();
            switch (op) {
                case "record" -> found.add(manager.maybeRecordAndGetThrottleTimeMs(session, client, value, now));
                case "unrecord" -> {
                    manager.unrecordQuotaSensor(session, client, value, now);
                    found.add(null);
                }
                case "most" -> found.add(manager.maxValueInQuotaWindow(session, client));
                default -> found.add(mutated(op.equals("strict") ? mutations.newStrictQuotaFor(session, client)
                    : mutations.newPermissiveQuotaFor(session, client), value));
            }
        }
        manager.shutdown();
        mutations.shutdown();
        return found;
    }

    static Object mutated(ControllerMutationQuota quota, double value) {
        try {
            quota.record(value);
            return Arrays.asList(false, quota.throttleTime());
        } catch (ThrottlingQuotaExceededException refused) {
            return Arrays.asList(true, quota.throttleTime());
        }
    }
}
