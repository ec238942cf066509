package io.github.kafkadouble;

import static io.github.kafkadouble.Params.*;
import static org.junit.jupiter.api.Assertions.*;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;

@KafkaDoubleTest(
        topics = "orders",
        security = "SASL_SSL",
        users = {"alice:secret", "bob:other"},
        acls = {"User:alice allow DESCRIBE topic:orders", "User:alice allow WRITE topic:invoices"})
class SecurityTests {
    private static void send(KafkaDouble kafka, String user) throws Exception {
        Map<String, Object> settings = kafka.clientSettings(user, Map.of("max.block.ms", 10_000));
        try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            producer.send(new ProducerRecord<>("orders", "two pears")).get();
        }
    }

    @Test
    void aUserMayDoWhatAnAclAllows(KafkaDouble kafka) throws Exception {
        var denied = assertThrows(ExecutionException.class, () -> send(kafka, "alice"));
        assertInstanceOf(TopicAuthorizationException.class, denied.getCause());
        kafka.createAcls(List.of("User:alice allow WRITE topic:orders"));
        send(kafka, "alice");
        assertEquals("two pears", kafka.waitForRecords("orders").get(0).text());
        var seen = kafka.assertSeen(apis("Produce"), principal("User:alice"));
        assertEquals("User:alice", seen.get(0).principal());
    }

    @Test
    void aLoginFailsOnDemand(KafkaDouble kafka) throws Exception {
        var rule = kafka.fail(
                "SaslAuthenticate", "SASL_AUTHENTICATION_FAILED", principal("User:alice"), message("not today"), everyTime());
        try (Admin admin = Admin.create(kafka.clientSettings("alice", Map.of("retries", 0)))) {
            var refused = assertThrows(ExecutionException.class, () -> admin.describeCluster().nodes().get());
            assertInstanceOf(SaslAuthenticationException.class, refused.getCause());
            assertTrue(refused.getMessage().contains("not today"), refused.getMessage());
        }
        rule.remove();
        try (Admin admin = Admin.create(kafka.clientSettings("bob", Map.of()))) {
            assertEquals(1, admin.describeCluster().nodes().get().size());
            assertTrue(kafka.expireSaslSessions(principal("User:bob")) > 0);
            assertEquals(1, admin.describeCluster().nodes().get().size());
        }
        assertFalse(kafka.stderr().contains("secret"));
    }

    @Test
    void aCertificateIsShown() {
        try (KafkaDouble own = KafkaDouble.builder().security("SSL").topic("orders", 1).start()) {
            Map<String, Object> settings = own.clientSettings(Map.of("max.block.ms", 10_000));
            try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
                producer.send(new ProducerRecord<>("orders", "two pears"));
                producer.flush();
            }
            assertEquals(1, own.waitForRecords("orders", timeout(Duration.ofSeconds(10))).size());
        }
    }
}
