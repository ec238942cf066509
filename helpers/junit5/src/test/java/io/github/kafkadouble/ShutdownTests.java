package io.github.kafkadouble;

import static io.github.kafkadouble.Params.*;
import static org.junit.jupiter.api.Assertions.*;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.platform.testkit.engine.EngineTestKit;

/** A double serves for as long as the application can still use it. */
class ShutdownTests {
    private static final int CALLS_BEFORE = 200;
    static KafkaDouble seen;

    /** An application that closes its consumer in a shutdown hook, as Spring does. */
    public static final class ClosesInAHook {
        public static void main(String[] words) {
            KafkaDouble kafka = KafkaDouble.builder().topic("orders", 1).start();
            KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                    kafka.clientSettings(Map.of("group.id", "shop")), new StringDeserializer(), new StringDeserializer());
            consumer.subscribe(List.of("orders"));
            while (consumer.assignment().isEmpty()) {
                consumer.poll(Duration.ofMillis(10));
            }
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                for (int call = 0; call < CALLS_BEFORE; call++) { // hooks run beside each other
                    kafka.topics();
                }
                consumer.close();
                kafka.assertSeen(apis("LeaveGroup"), times(1));
                System.out.println("the consumer has left");
            }));
            System.exit(0);
        }
    }

    @Test
    void aConsumerThatAShutdownHookClosesLeavesItsGroup() throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process other = new ProcessBuilder(
                        java, "-cp", System.getProperty("java.class.path"), ClosesInAHook.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        assertEquals("the consumer has left", other.inputReader().readLine());
        assertEquals(0, other.waitFor());
    }

    @KafkaDoubleTest(topics = "shutdown")
    @Tag("inner")
    @EnabledIfSystemProperty(named = "kafkadouble.inner", matches = "true")
    static class Inner {
        @Test
        void isGivenADouble(KafkaDouble kafka) {
            seen = kafka;
        }
    }

    @Test
    void theDoubleOfAnAnnotationServesAfterTheLastTest() {
        System.setProperty("kafkadouble.inner", "true");
        try {
            EngineTestKit.engine("junit-jupiter")
                    .selectors(selectClass(Inner.class))
                    .execute()
                    .testEvents()
                    .assertStatistics(stats -> stats.succeeded(1));
        } finally {
            System.clearProperty("kafkadouble.inner");
        }
        assertEquals(List.of("shutdown"), List.copyOf(seen.topics().keySet()));
    }
}
