package io.github.kafkadouble;

import io.quarkus.test.common.QuarkusTestResourceLifecycleManager;
import java.util.HashMap;
import java.util.Map;

/**
 * A {@link KafkaDouble} as a test resource of Quarkus, for @WithTestResource and @QuarkusTestResource. It
 * sets kafka.bootstrap.servers, and with security the other settings of clients. The field of a test
 * whose type is KafkaDouble gets it. Tests call reset() themselves.
 *
 * <p>Its arguments have the names of the elements of {@link KafkaDoubleTest}: brokers, topics, settings,
 * security, users, user, oauthbearer, acls, superUsers, certificate and scenario, and "arguments" for
 * every other one. Several values are separated by semicolons: "orders:2;invoices".
 */
public final class KafkaDoubleResource implements QuarkusTestResourceLifecycleManager {
    private static final String USER = "user";
    private static final String USERS = "users";
    private static final String ARGUMENTS = "arguments";
    private static final Map<String, String> OPTIONS = Map.of(
            "brokers", "--brokers",
            "topics", "--topic",
            "settings", "-c",
            "security", "--security",
            "oauthbearer", "--oauthbearer",
            "acls", "--acl",
            "superUsers", "--super-user",
            "certificate", "--certificate",
            "scenario", "--scenario");

    private final KafkaDouble.Builder builder = KafkaDouble.builder();
    private String user = "";
    private KafkaDouble kafka;

    /** Quarkus makes it. */
    public KafkaDoubleResource() {}

    @Override
    public void init(Map<String, String> initArgs) {
        initArgs.forEach((name, value) -> {
            for (String each : value.split(";")) {
                give(name, each.strip());
            }
        });
        user = initArgs.getOrDefault(USER, user);
    }

    private void give(String name, String value) {
        if (name.equals(USERS)) {
            String[] parts = SharedDoubles.split(value);
            builder.user(parts[0], parts[1]);
            user = user.isEmpty() ? parts[0] : user;
        } else if (name.equals(ARGUMENTS)) {
            builder.arguments(value);
        } else if (OPTIONS.containsKey(name)) {
            builder.arguments(OPTIONS.get(name), name.equals("scenario") ? SharedDoubles.fileOf(value) : value);
        } else if (!name.equals(USER)) {
            throw new UsageException("KafkaDoubleResource has no argument " + name);
        }
    }

    @Override
    public Map<String, String> start() {
        kafka = builder.start();
        Map<String, Object> settings =
                user.isEmpty() ? kafka.clientSettings(Map.of()) : kafka.clientSettings(user, Map.of());
        Map<String, String> made = new HashMap<>();
        settings.forEach((name, value) -> made.put("kafka." + name, value.toString()));
        return made;
    }

    @Override
    public void inject(TestInjector testInjector) {
        testInjector.injectIntoFields(kafka, new TestInjector.MatchesType(KafkaDouble.class));
    }

    @Override
    public void stop() {
        if (kafka != null) {
            kafka.close();
        }
    }
}
