package io.github.kafkadouble;

import static io.github.kafkadouble.Params.*;
import static org.junit.jupiter.api.Assertions.*;

import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

@KafkaDoubleTest(topics = "orders:2")
class KafkaDoubleTests {
    @Test
    void aRecordIsReadBack(KafkaDouble kafka) {
        assertEquals(0, kafka.produce("orders", value("two pears"), key("42"), partition(1)));
        var records = kafka.waitForRecords("orders", timeout(Duration.ofSeconds(10)));
        assertEquals("two pears", records.get(0).text());
        assertEquals(1, records.get(0).partition());
        kafka.produce("orders", value(new byte[] {(byte) 0xff, 0}), partition(0));
        assertArrayEquals(new byte[] {(byte) 0xff, 0}, kafka.records("orders", partition(0)).get(0).value());
        kafka.call("produce", Map.of("topic", "orders", "partition", 0, "headers", List.of(List.of("a", "b"))));
        var last = kafka.records("orders", partition(0)).get(1);
        assertNull(last.value());
        assertEquals("b", new String(last.headers().get(0).value(), StandardCharsets.UTF_8));
    }

    @Test
    void whatHasNoFormInJsonIsRefusedByItsName(KafkaDouble kafka) {
        Runnable lambda = () -> {};
        var refused = assertThrows(UsageException.class, () -> kafka.produce("orders", value(lambda)));
        assertTrue(refused.getMessage().startsWith("value is a value of the class"), refused.getMessage());
        var inside = assertThrows(
                UsageException.class, () -> kafka.produceAll("orders", List.of(Map.of("key", lambda))));
        assertTrue(inside.getMessage().startsWith("records is a value of the class"), inside.getMessage());
        assertEquals(List.of(), kafka.records("orders"));
    }

    @Test
    @SuppressWarnings("serial")
    void aMapOfAnAnonymousClassIsWhatItHolds(KafkaDouble kafka) {
        var configs = new HashMap<String, String>() {
            {
                put("cleanup.policy", "compact");
            }
        };
        kafka.createTopic("compacted", config(configs));
        assertEquals(configs, kafka.topics().get("compacted").configs());
    }

    @Test
    void namesAreConstants(KafkaDouble kafka) {
        kafka.fail(Names.ApiName.PRODUCE, Names.ErrorName.NOT_LEADER_OR_FOLLOWER);
        assertThrows(
                WaitTimeoutException.class,
                () -> kafka.waitForGroup("shop", state(Names.GroupState.STABLE), timeout(Duration.ZERO)));
    }

    @Test
    void eachTestBeginsEmpty(KafkaDouble kafka) {
        assertEquals(List.of(), kafka.records("orders"));
        assertEquals(2, kafka.topics().get("orders").partitions().size());
        kafka.createTopic("mine");
        kafka.reset();
        assertEquals(1, kafka.topics().size());
    }

    @Test
    void errorsHaveTypes(KafkaDouble kafka) {
        var refused = assertThrows(KafkaErrorException.class, () -> kafka.records("none"));
        assertEquals("UNKNOWN_TOPIC_OR_PARTITION", refused.name());
        assertEquals(3, refused.code());
        var wrong = assertThrows(UsageException.class, () -> kafka.fail("Produze", 6));
        assertTrue(wrong.getMessage().contains("did you mean 'Produce'"), wrong.getMessage());
        var unknown = assertThrows(UsageException.class, () -> kafka.call("trunkate", Map.of()));
        assertTrue(unknown.getMessage().contains("did you mean 'truncate'"), unknown.getMessage());
        var late = assertThrows(WaitTimeoutException.class, () -> kafka.waitForTopic("none", timeout(Duration.ZERO)));
        assertTrue(late.getMessage().contains("not within 0 s"), late.getMessage());
        assertThrows(RequestAssertionError.class, () -> kafka.assertSeen(apis("Produce")));
    }

    @Test
    void errorsAreInTheWordsOfJava(KafkaDouble kafka) {
        var clock = assertThrows(UsageException.class, () -> kafka.advance(Duration.ofSeconds(1)));
        assertTrue(clock.getMessage().endsWith("give stepped(), or freeze() it"), clock.getMessage());
        var single = assertThrows(UsageException.class, kafka::addBroker);
        assertTrue(single.getMessage().endsWith("give brokers(2) or more"), single.getMessage());
        var value = assertThrows(UsageException.class, () -> kafka.produce("orders", value(5)));
        assertTrue(value.getMessage().endsWith("a byte[], or null, not 5"), value.getMessage());
    }

    @Test
    void aRuleIsAHandle(KafkaDouble kafka) {
        Rule rule = kafka.fail("Produce", "NOT_LEADER_OR_FOLLOWER", everyTime(), topic("orders"));
        assertEquals(1, kafka.rules().size());
        assertThrows(WaitTimeoutException.class, () -> rule.await(hits(1), timeout(Duration.ZERO)));
        rule.remove();
        assertEquals(0, kafka.rules().size());
    }

    @Test
    void ofManyRequestsTheLastOnesAreShown(KafkaDouble kafka) throws IOException {
        String address = kafka.bootstrapServers();
        int port = Integer.parseInt(address.substring(address.indexOf(':') + 1));
        try (Socket socket = new Socket("127.0.0.1", port)) {
            for (int number = 1; number <= 1100; number++) {
                var request = ByteBuffer.allocate(16).putInt(12).putShort((short) 18).putShort((short) 0).putInt(number);
                socket.getOutputStream().write(request.putShort((short) 2).put("me".getBytes()).array());
                byte[] size = socket.getInputStream().readNBytes(4);
                socket.getInputStream().readNBytes(ByteBuffer.wrap(size).getInt());
            }
        }
        var last = kafka.lastRequests(2);
        assertEquals(2, last.size());
        assertTrue(last.get(1).text().contains("ApiVersions v0 #1100 of 'me'"), last.get(1).text());
    }

    @Test
    void groupsSnapshotsAndTheClock(KafkaDouble kafka) {
        kafka.produce("orders", value("a"), partition(0));
        kafka.commitOffsets("shop", Map.of("orders", Map.of(0, 0)));
        var group = kafka.groups().get("shop");
        assertEquals(1, group.lags().get("orders").get(0));
        assertEquals(0, group.offsets().get("orders").get(0).offset());
        kafka.snapshot(name("clean"));
        kafka.produce("orders", value("b"), partition(0));
        kafka.restore("clean");
        assertEquals(1, kafka.records("orders").size());
        kafka.dropSnapshot("clean");
        kafka.freeze();
        long before = kafka.describeCluster().nowMs();
        kafka.advance(Duration.ofMillis(1500));
        assertEquals(before + 1500, kafka.describeCluster().nowMs());
    }

    @Test
    void aProgramThatIsMissingIsExplained() {
        var missing = assertThrows(StartException.class, () -> KafkaDouble.builder().program("/no/such/program").start());
        assertTrue(missing.getMessage().contains("pip install 'kafkadouble[control]'"), missing.getMessage());
    }

    @Test
    void aStartThatFailsShowsStderr() {
        var failed = assertThrows(
                StartException.class, () -> KafkaDouble.builder().setting("no.such.setting", "1").start());
        assertTrue(failed.getMessage().contains("no.such.setting"), failed.getMessage());
    }

    @Test
    void severalDoublesRunAtOnce(KafkaDouble kafka) {
        try (KafkaDouble other = KafkaDouble.builder().topic("invoices", 1).start()) {
            assertNotEquals(kafka.bootstrapServers(), other.bootstrapServers());
            assertEquals(1, other.topics().size());
            assertFalse(other.version().isEmpty());
        }
    }

    @Test
    void timeStandsStillUntilItIsAdvanced() {
        try (KafkaDouble other = KafkaDouble.builder().stepped().start()) {
            long before = other.describeCluster().nowMs();
            other.advance(Duration.ofSeconds(45));
            assertEquals(before + 45_000, other.describeCluster().nowMs());
        }
    }

    @Test
    void aDoubleThatIsClosedAnswersNothing() {
        KafkaDouble other = KafkaDouble.builder().start();
        other.close();
        other.close();
        assertThrows(KafkaDoubleException.class, other::topics);
    }
}
