package interop;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/** Writes and reads while brokers are killed, until its input ends; then until it has read all that was acknowledged, and committed that. */
final class Endurance {
    private static final int AT_ONCE = 10;
    private static final long PAUSE_MS = 50; // the machine is shared
    private static final long LASTING_MS = 100_000; // after the end of the input; then it gives up

    private final Clients clients;
    private final String topic;
    private final String group;
    private final Set<Integer> acknowledged = ConcurrentHashMap.newKeySet();
    private final Set<Integer> seen = ConcurrentHashMap.newKeySet();
    private final Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
    private volatile boolean over;
    private volatile boolean written;
    private volatile long end = Long.MAX_VALUE;
    private volatile Throwable fault;

    Endurance(Clients clients, String topic, String group) {
        this.clients = clients;
        this.topic = topic;
        this.group = group;
    }

    void run() throws Exception {
        thread(this::awaitEnd);
        Thread reading = thread(this::read);
        write();
        written = true;
        reading.join();
        if (fault != null) {
            throw new AssertionError(fault);
        }
    }

    private static Thread thread(Runnable work) {
        Thread made = new Thread(work);
        made.setDaemon(true);
        made.start();
        return made;
    }

    private void awaitEnd() {
        try {
            while (System.in.read() >= 0) {}
        } catch (IOException gone) {
            // as good as the end
        }
        end = System.currentTimeMillis() + LASTING_MS;
        over = true;
    }

    private void write() throws InterruptedException {
        try (KafkaProducer<byte[], byte[]> producer = clients.producer(Map.of("acks", "all", "enable.idempotence", "true"))) {
            for (int first = 0; !over; first += AT_ONCE) {
                String what = first + " " + (first + AT_ONCE);
                try {
                    send(producer, first);
                    say("wrote " + what);
                } catch (ExecutionException refused) {
                    say("failed " + what + " " + refused.getCause());
                }
                Thread.sleep(PAUSE_MS);
            }
        }
    }

    private void send(KafkaProducer<byte[], byte[]> producer, int first) throws ExecutionException, InterruptedException {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (int n = first; n < first + AT_ONCE; n++) {
            sent.add(producer.send(Promise.record(topic, "none", n)));
        }
        for (int at = 0; at < AT_ONCE; at++) {
            sent.get(at).get();
            acknowledged.add(first + at);
        }
    }

    private void read() {
        try (KafkaConsumer<byte[], byte[]> member = clients.consumer(group, Map.of())) {
            member.subscribe(List.of(topic));
            while (!(written && seen.containsAll(acknowledged))) {
                if (poll(member)) {
                    commits(member);
                }
            }
            while (!commits(member)) {
                inTime();
            }
        } catch (Throwable thrown) {
            fault = thrown;
        }
    }

    private void inTime() {
        if (System.currentTimeMillis() > end) {
            throw new AssertionError("not all was read and committed in time");
        }
    }

    private boolean poll(KafkaConsumer<byte[], byte[]> member) {
        inTime();
        boolean any = false;
        for (ConsumerRecord<byte[], byte[]> one : member.poll(Duration.ofMillis(200))) {
            int number = Integer.parseInt(new String(one.value(), UTF_8).split("-", 3)[1]);
            say("read " + one.partition() + " " + one.offset() + " " + number);
            seen.add(number);
            positions.put(new TopicPartition(topic, one.partition()), new OffsetAndMetadata(one.offset() + 1));
            any = true;
        }
        return any;
    }

    /** What fails, as with a rebalance, is committed with what is read next. */
    private boolean commits(KafkaConsumer<byte[], byte[]> member) {
        try {
            member.commitSync(positions);
        } catch (KafkaException refused) {
            say("uncommitted " + refused);
            return false;
        }
        say("committed");
        return true;
    }

    private static void say(String line) {
        System.out.println("> " + line.replace('\n', ' '));
    }
}
