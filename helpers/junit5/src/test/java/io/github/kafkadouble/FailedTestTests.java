package io.github.kafkadouble;

import static org.junit.jupiter.api.Assertions.*;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.platform.testkit.engine.EngineTestKit;

/** A test that fails shows the last requests; one that passes does not. */
class FailedTestTests {
    @KafkaDoubleTest
    @Tag("inner")
    @EnabledIfSystemProperty(named = "kafkadouble.inner", matches = "true")
    static class Inner {
        @Test
        void fails(KafkaDouble kafka) throws Exception {
            try (Admin admin = Admin.create(kafka.clientSettings(Map.of()))) {
                admin.listTopics().names().get();
            }
            fail("on purpose");
        }

        @Test
        void passes(KafkaDouble kafka) {
            assertEquals(Map.of(), kafka.topics());
        }
    }

    @Test
    void theLastRequestsAreShown() {
        System.setProperty("kafkadouble.inner", "true");
        try {
            var events = EngineTestKit.engine("junit-jupiter").selectors(selectClass(Inner.class)).execute();
            events.testEvents().assertStatistics(stats -> stats.succeeded(1).failed(1));
            Throwable failure = events.testEvents().failed().stream()
                    .map(each -> each.getRequiredPayload(org.junit.platform.engine.TestExecutionResult.class))
                    .map(each -> each.getThrowable().orElseThrow())
                    .findFirst()
                    .orElseThrow();
            assertEquals("on purpose", failure.getMessage());
            assertEquals(1, failure.getSuppressed().length);
            String report = failure.getSuppressed()[0].getMessage();
            assertTrue(report.startsWith("kafkadouble: the last requests:"), report);
            assertTrue(report.contains("Metadata v"), report);
        } finally {
            System.clearProperty("kafkadouble.inner");
        }
    }
}
