package io.github.kafkadouble;

import static io.github.kafkadouble.Params.*;
import static org.junit.jupiter.api.Assertions.*;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A small service with Kafka's own client, which writes an invoice for each order, in a cluster. */
@KafkaDoubleTest(brokers = 3)
class ShopTests {
    private static final Duration LONG = Duration.ofMinutes(1);
    private final AtomicBoolean stopped = new AtomicBoolean();
    private Thread service;

    @BeforeEach
    void start(KafkaDouble kafka) {
        kafka.createTopic("orders", replicationFactor(3));
        kafka.createTopic("invoices", replicationFactor(3));
        service = new Thread(() -> serve(kafka));
        service.start();
    }

    @AfterEach
    void stop() throws InterruptedException {
        stopped.set(true);
        service.join();
    }

    private void serve(KafkaDouble kafka) {
        Map<String, Object> settings = kafka.clientSettings(Map.of("group.id", "invoicing", "auto.offset.reset", "earliest"));
        try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
                var producer = new KafkaProducer<>(
                        kafka.clientSettings(Map.of()), new StringSerializer(), new StringSerializer())) {
            consumer.subscribe(List.of("orders"));
            while (!stopped.get()) {
                for (ConsumerRecord<String, String> order : consumer.poll(Duration.ofMillis(100))) {
                    producer.send(new ProducerRecord<>("invoices", "invoice for " + order.value()));
                }
                producer.flush();
            }
        }
    }

    private static List<String> invoices(KafkaDouble kafka, int count) {
        return kafka.waitForRecords("invoices", count(count), timeout(LONG)).stream()
                .map(Types.TopicRecord::text)
                .toList();
    }

    @Test
    void survivesAKilledLeader(KafkaDouble kafka) {
        kafka.produce("orders", value("one"));
        assertEquals(List.of("invoice for one"), invoices(kafka, 1));
        long leader = kafka.leader("orders", 0);
        kafka.killBroker(leader);
        kafka.expireSession(leader);
        kafka.waitForLeader("orders", 0, epoch(1), timeout(LONG));
        kafka.produce("orders", value("two"));
        assertEquals(List.of("invoice for one", "invoice for two"), invoices(kafka, 2));
    }

    @Test
    void sendsAgainWhenTheLeaderHasMoved(KafkaDouble kafka) {
        var rule = kafka.fail("Produce", "NOT_LEADER_OR_FOLLOWER", topic("invoices"));
        kafka.produce("orders", value("one"));
        rule.await(timeout(LONG));
        assertEquals(List.of("invoice for one"), invoices(kafka, 1));
        assertEquals(1, kafka.assertSeen(apis("Produce"), error("NOT_LEADER_OR_FOLLOWER")).size());
    }
}
