package io.github.kafkadouble;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** What {@link KafkaDoubleTest} does. */
public final class KafkaDoubleExtension implements BeforeEachCallback, AfterEachCallback, ParameterResolver {
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
        return SharedDoubles.of(annotation(context));
    }

    private static KafkaDoubleTest annotation(ExtensionContext context) {
        return SharedDoubles.annotation(context.getRequiredTestClass())
                .orElseThrow(() -> new UsageException("the class has no @KafkaDoubleTest"));
    }
}
