package interop;

import java.util.Timer;
import java.util.TimerTask;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.consumer.KafkaConsumer;

/**
 * Kafka's Java client against a broker: {@code Program VERB BOOTSTRAP TOPIC GROUP}, the verb being walk, write, read or endure.
 *
 * <p>One source for every release from 2.1 on: compiled against the oldest, it names nothing that a later one has taken away. The last line
 * of its output is what it saw, as JSON; the exit code is 0 if all of it was right. It ends by itself after a minute, or when its input has ended.
 */
public final class Program {
    private static final long LIMIT_MS = 60_000;

    private final Clients clients;
    private final Report report;
    private final Writing writing;
    private final Reading reading;
    private final String topic;
    private final String group;

    private Program(String verb, String bootstrap, String topic, String group) {
        this.clients = new Clients(bootstrap);
        this.report = new Report("kafka-clients " + Report.version(), verb);
        this.topic = topic;
        this.group = group;
        this.writing = new Writing(clients, topic, report);
        this.reading = new Reading(clients, topic, group, report);
    }

    public static void main(String[] words) {
        if (words.length != 4) {
            System.err.println("walk|write|read|endure BOOTSTRAP TOPIC GROUP");
            System.exit(2);
        }
        if (!words[0].equals("endure")) {
            limit();
        }
        Program program = new Program(words[0], words[1], words[2], words[3]);
        program.run(words[0]);
        System.out.println(program.report);
        System.exit(program.report.whole() ? 0 : 1);
    }

    private void run(String verb) {
        switch (verb) {
            case "walk":
                walk();
                break;
            case "write":
                write();
                break;
            case "read":
                read();
                break;
            case "endure":
                report.look("endure", () -> new Endurance(clients, topic, group).run());
                reading.report();
                break;
            default:
                throw new IllegalArgumentException("no such verb: " + verb);
        }
    }

    private void walk() {
        try (AdminClient admin = clients.admin()) {
            writing.create(admin);
            writing.createTwice(admin);
            writing.describe(admin);
            writing.produceAll();
            try (KafkaConsumer<byte[], byte[]> member = reading.member()) {
                reading.read(member);
                reading.nullHeader();
                reading.group(member);
                reading.commit(member, admin);
                reading.secondMember(member);
            }
            reading.resume(writing);
            reading.offsetsByTime();
            Transactions.look(clients, topic, group, report);
        }
        reading.report();
    }

    private void write() {
        try (AdminClient admin = clients.admin()) {
            writing.create(admin);
        }
        writing.produceAll();
        writing.report();
    }

    private void read() {
        try (AdminClient admin = clients.admin(); KafkaConsumer<byte[], byte[]> member = reading.member()) {
            reading.read(member);
            reading.group(member);
            reading.commit(member, admin);
        }
        reading.report();
    }

    /** The whole JVM ends when a minute has gone by. */
    static void limit() {
        new Timer("the limit of a minute", true).schedule(new TimerTask() {
            @Override
            public void run() {
                System.err.println("not done after " + LIMIT_MS + " ms");
                Runtime.getRuntime().halt(3);
            }
        }, LIMIT_MS);
    }
}
