package io.github.kafkadouble;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** What {@link KafkaDoubleTest} does. */
public final class KafkaDoubleExtension implements BeforeEachCallback, AfterEachCallback, ParameterResolver {
    /**
     * Every double that was started, for as long as this JVM runs: an application may close its clients
     * after the last test, as Spring's contexts do in a shutdown hook. Each process ends with the JVM.
     */
    private static final Map<Settings, KafkaDouble> STARTED = new ConcurrentHashMap<>();

    /** What a double is started with: those with the same are one. */
    private record Settings(List<String> arguments, List<String> users) {}

    @Override
    public void beforeEach(ExtensionContext context) {
        kafka(context).reset();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        context.getExecutionException().ifPresent(failure -> {
            String report = reportOf(context);
            failure.addSuppressed(new LastRequests(report));
            context.publishReportEntry("kafkadouble", report);
        });
    }

    private String reportOf(ExtensionContext context) {
        try {
            return "kafkadouble: " + kafka(context).report(Params.count(annotation(context).lastRequests()));
        } catch (KafkaDoubleException problem) {
            return "kafkadouble: what happened is not known: " + problem.getMessage() + "; its stderr:\n"
                    + kafka(context).stderr();
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == KafkaDouble.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return kafka(context);
    }

    private static KafkaDouble kafka(ExtensionContext context) {
        KafkaDoubleTest annotation = annotation(context);
        Settings settings = new Settings(arguments(annotation), List.of(annotation.users()));
        return STARTED.computeIfAbsent(settings, KafkaDoubleExtension::started);
    }

    private static KafkaDouble started(Settings settings) {
        KafkaDouble.Builder builder = KafkaDouble.builder().arguments(settings.arguments.toArray(String[]::new));
        for (String user : settings.users) {
            int colon = user.indexOf(':');
            if (colon < 0) {
                throw new UsageException("a user of @KafkaDoubleTest is \"name:password\"");
            }
            builder.user(user.substring(0, colon), user.substring(colon + 1));
        }
        return builder.start();
    }

    private static List<String> arguments(KafkaDoubleTest annotation) {
        List<String> made = new ArrayList<>(List.of("--brokers", Integer.toString(annotation.brokers())));
        for (String topic : annotation.topics()) {
            made.addAll(List.of("--topic", topic));
        }
        for (String setting : annotation.settings()) {
            made.addAll(List.of("-c", setting));
        }
        for (String acl : annotation.acls()) {
            made.addAll(List.of("--acl", acl));
        }
        if (!annotation.security().isEmpty()) {
            made.addAll(List.of("--security", annotation.security()));
        }
        if (annotation.stepped()) {
            made.add("--stepped");
        }
        made.addAll(List.of(annotation.arguments()));
        return made;
    }

    /** The annotation of the class, or of the class around a nested one. */
    private static KafkaDoubleTest annotation(ExtensionContext context) {
        for (Class<?> each = context.getRequiredTestClass(); each != null; each = each.getEnclosingClass()) {
            Optional<KafkaDoubleTest> found = AnnotationSupport.findAnnotation(each, KafkaDoubleTest.class);
            if (found.isPresent()) {
                return found.get();
            }
        }
        throw new UsageException("the class has no @KafkaDoubleTest");
    }
}
