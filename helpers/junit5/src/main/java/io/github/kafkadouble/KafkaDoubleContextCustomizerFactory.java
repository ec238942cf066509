package io.github.kafkadouble;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;

/**
 * Gives Spring's context of a class with {@link KafkaDoubleTest} the properties that Spring Boot makes
 * its clients of: spring.kafka.bootstrap-servers, and with security spring.kafka.properties. Spring
 * finds it by META-INF/spring.factories.
 */
final class KafkaDoubleContextCustomizerFactory implements ContextCustomizerFactory {
    KafkaDoubleContextCustomizerFactory() {}

    @Override
    public ContextCustomizer createContextCustomizer(
            Class<?> testClass, List<ContextConfigurationAttributes> configAttributes) {
        return SharedDoubles.annotation(testClass)
                .map(each -> new Customizer(each, SharedDoubles.settings(each), SharedDoubles.user(each)))
                .orElse(null);
    }

    /** Contexts with equal customizers are one for Spring: those with the same double and the same user. */
    private static final class Customizer implements ContextCustomizer {
        private final KafkaDoubleTest annotation;
        private final List<Object> identity;

        Customizer(KafkaDoubleTest annotation, SharedDoubles.Settings settings, String user) {
            this.annotation = annotation;
            this.identity = List.of(settings, user);
        }

        @Override
        public void customizeContext(
                ConfigurableApplicationContext context, MergedContextConfiguration mergedConfig) {
            Map<String, Object> properties = new HashMap<>();
            SharedDoubles.clientSettings(annotation).forEach((name, value) -> properties.put(
                    name.equals("bootstrap.servers") ? "spring.kafka.bootstrap-servers" : "spring.kafka.properties." + name,
                    value));
            context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("kafkadouble", properties));
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Customizer that && identity.equals(that.identity);
        }

        @Override
        public int hashCode() {
            return identity.hashCode();
        }
    }
}
