package io.github.kafkadouble;

import static io.github.kafkadouble.Params.*;
import static org.junit.jupiter.api.Assertions.*;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.errors.SslAuthenticationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** What the annotation has for scenarios, super users and certificates. */
@KafkaDoubleTest(
        scenario = "classpath:replies.toml",
        security = "SASL_SSL",
        acls = "User:bob allow DESCRIBE topic:requests",
        superUsers = "User:alice",
        topics = "invoices")
class ScenarioTests {
    @RepeatedTest(2)
    void eachTestBeginsWithTheScenario(KafkaDouble kafka) {
        assertEquals(List.of("from the start"), kafka.records("requests").stream().map(Types.TopicRecord::text).toList());
        assertTrue(kafka.topics().containsKey("invoices"));
        kafka.produce("requests", value("two pears"), key("7"));
        var reply = kafka.waitForRecords("replies").get(0);
        assertEquals(List.of("7", "accepted"), List.of(new String(reply.key()), reply.text()));
    }

    @Test
    void aSuperUserMayDoWhatNoAclAllows(KafkaDouble kafka) throws Exception {
        try (Admin admin = Admin.create(kafka.clientSettings("alice", Map.of()))) {
            admin.deleteTopics(List.of("requests")).all().get();
        }
        try (Admin admin = Admin.create(kafka.clientSettings("bob", Map.of()))) {
            var denied = assertThrows(
                    ExecutionException.class, () -> admin.deleteTopics(List.of("invoices")).all().get());
            assertInstanceOf(TopicAuthorizationException.class, denied.getCause());
        }
    }
}

@KafkaDoubleTest(security = "SSL", certificate = "expired")
class CertificateTests {
    @Test
    void aClientRefusesAnExpiredCertificate(KafkaDouble kafka) {
        try (Admin admin = Admin.create(kafka.clientSettings(Map.of()))) {
            var refused = assertThrows(ExecutionException.class, () -> admin.describeCluster().nodes().get());
            assertInstanceOf(SslAuthenticationException.class, refused.getCause());
        }
    }
}
