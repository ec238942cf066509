package io.github.kafkadouble;

import java.net.URI;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.commons.support.AnnotationSupport;

/** The doubles of classes with {@link KafkaDoubleTest}. */
final class SharedDoubles {
    /**
     * Every double that was started, for as long as this JVM runs: an application may close its clients
     * after the last test, as Spring's contexts do in a shutdown hook. Each process ends with the JVM.
     */
    private static final Map<Settings, KafkaDouble> STARTED = new ConcurrentHashMap<>();

    private static final String CLASSPATH = "classpath:";

    /** What a double is started with: those with the same are one. */
    record Settings(List<String> arguments, List<String> users) {}

    private SharedDoubles() {}

    /** The double of an annotation, which is started on first use. */
    static KafkaDouble of(KafkaDoubleTest annotation) {
        return STARTED.computeIfAbsent(settings(annotation), SharedDoubles::started);
    }

    static Settings settings(KafkaDoubleTest annotation) {
        return new Settings(arguments(annotation), List.of(annotation.users()));
    }

    /** The annotation of the class, or of the class around a nested one. */
    static Optional<KafkaDoubleTest> annotation(Class<?> test) {
        for (Class<?> each = test; each != null; each = each.getEnclosingClass()) {
            Optional<KafkaDoubleTest> found = AnnotationSupport.findAnnotation(each, KafkaDoubleTest.class);
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    /** The user of the application under test; empty if there is none. */
    static String user(KafkaDoubleTest annotation) {
        if (annotation.user().isEmpty() && annotation.users().length > 0) {
            return split(annotation.users()[0])[0];
        }
        return annotation.user();
    }

    /** The settings of clients of the application under test. */
    static Map<String, Object> clientSettings(KafkaDoubleTest annotation) {
        String user = user(annotation);
        KafkaDouble kafka = of(annotation);
        return user.isEmpty() ? kafka.clientSettings(Map.of()) : kafka.clientSettings(user, Map.of());
    }

    /** The name and the password of a user. */
    static String[] split(String user) {
        String[] parts = user.split(":", 2);
        if (parts.length < 2) {
            throw new UsageException("a user is \"name:password\"");
        }
        return parts;
    }

    private static KafkaDouble started(Settings settings) {
        KafkaDouble.Builder builder = KafkaDouble.builder().arguments(settings.arguments.toArray(String[]::new));
        for (String user : settings.users) {
            builder.user(split(user)[0], split(user)[1]);
        }
        return builder.start();
    }

    private static List<String> arguments(KafkaDoubleTest annotation) {
        List<String> made = new ArrayList<>(List.of("--brokers", Integer.toString(annotation.brokers())));
        add(made, "--topic", annotation.topics());
        add(made, "-c", annotation.settings());
        add(made, "--acl", annotation.acls());
        add(made, "--super-user", annotation.superUsers());
        add(made, "--security", annotation.security());
        add(made, "--oauthbearer", annotation.oauthbearer());
        add(made, "--certificate", annotation.certificate());
        add(made, "--scenario", fileOf(annotation.scenario()));
        if (annotation.stepped()) {
            made.add("--stepped");
        }
        made.addAll(List.of(annotation.arguments()));
        return made;
    }

    /** Adds the option with each value that is not empty. */
    private static void add(List<String> made, String option, String... values) {
        for (String value : values) {
            if (!value.isEmpty()) {
                made.addAll(List.of(option, value));
            }
        }
    }

    /** The path of a scenario, which may be a resource. */
    static String fileOf(String scenario) {
        if (!scenario.startsWith(CLASSPATH)) {
            return scenario;
        }
        String name = scenario.substring(CLASSPATH.length());
        URL found = Thread.currentThread().getContextClassLoader().getResource(name);
        if (found == null || !found.getProtocol().equals("file")) {
            throw new UsageException("the scenario " + scenario + " is no file on the class path");
        }
        return Path.of(URI.create(found.toString())).toString();
    }
}
