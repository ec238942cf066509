package io.github.kafkadouble;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * A kafkadouble that this process started: a cluster of one broker or more. It ends with {@link
 * #close}, or after this process, when every shutdown hook is done.
 *
 * <pre>{@code
 * try (KafkaDouble kafka = KafkaDouble.builder().topic("orders", 2).start()) {
 *     kafka.produce("orders", Params.value("two pears"));
 * }
 * }</pre>
 */
public final class KafkaDouble extends ControlClient implements AutoCloseable {
    private static final long LOOK_MS = 20;

    private final ServeProcess process;

    private KafkaDouble(ServeProcess process, String token) {
        super(process.value(ServeProcess.LAST_LINE), token);
        this.process = process;
    }

    /** Describes a double before it starts. */
    public static Builder builder() {
        return new Builder();
    }

    /** HOST:PORT of every broker, separated by commas, as bootstrap.servers of a client. */
    public String bootstrapServers() {
        return process.value("bootstrap.servers");
    }

    /** The address of the control plane. */
    public String controlUrl() {
        return process.value(ServeProcess.LAST_LINE);
    }

    /** The version of the program. */
    public String version() {
        return process.value("version");
    }

    /** The end of what the program wrote on stderr. */
    public String stderr() {
        return process.stderr();
    }

    /** Settings for a client of this double: bootstrap.servers, and what is given; with TLS what it trusts, too. */
    public Map<String, Object> clientSettings(Map<String, ?> more) {
        Map<String, Object> made = new HashMap<>(more);
        if (process.value("ssl.truststore.location") != null) {
            made.putAll(settingsOf());
        }
        made.put("bootstrap.servers", bootstrapServers());
        return made;
    }

    /**
     * Settings for a client that is this user, and what is given: with SASL it logs in, with SSL it
     * shows a certificate of the user.
     */
    public Map<String, Object> clientSettings(String user, Map<String, ?> more) {
        Map<String, Object> made = new HashMap<>(more);
        made.putAll(settingsOf(Params.user(user)));
        return made;
    }

    private Map<String, String> settingsOf(Param... user) {
        Map<String, String> made = new HashMap<>();
        Param[] params = Arrays.copyOf(user, user.length + 1);
        params[user.length] = Params.client("java");
        clientConfig(params).forEach((name, value) -> made.put(name, value.getAsString()));
        return made;
    }

    /** Ends the program, and waits for its end. It may be called again. */
    @Override
    public void close() {
        process.stop();
    }

    private void becomeReady(Duration timeout) throws InterruptedException {
        long end = System.nanoTime() + timeout.toNanos();
        while (true) {
            try {
                send("GET", "/ready", null);
                return;
            } catch (KafkaDoubleException notYet) {
                if (System.nanoTime() >= end) {
                    throw StartException.of("the program is not ready: " + notYet.getMessage(), process.stderr());
                }
                Thread.sleep(LOOK_MS);
            }
        }
    }

    /** What a double is started with. */
    public static final class Builder {
        private String program;
        private Duration startTimeout = Duration.ofSeconds(30);
        private final List<String> arguments = new ArrayList<>();
        private final List<String> users = new ArrayList<>();

        private Builder() {}

        /**
         * The path of the program. Without it, that of the environment variable KAFKADOUBLE, or
         * `kafkadouble` on the PATH or in ~/.local/bin; if it is nowhere, uv's `uvx` gets and runs it.
         */
        public Builder program(String path) {
            program = path;
            return this;
        }

        /** The number of brokers; without it, there is one. */
        public Builder brokers(int count) {
            return arguments("--brokers", Integer.toString(count));
        }

        /** Creates a topic at the start. It exists again after a reset. */
        public Builder topic(String name, int partitions) {
            return arguments("--topic", name + ":" + partitions);
        }

        /** A setting of Kafka's broker, such as auto.create.topics.enable. */
        public Builder setting(String name, String value) {
            return arguments("-c", name + "=" + value);
        }

        /**
         * The protocol of the brokers: SSL, SASL_PLAINTEXT or SASL_SSL. Clients get their settings from
         * {@link KafkaDouble#clientSettings(String, Map)}.
         */
        public Builder security(String protocol) {
            return arguments("--security", protocol);
        }

        /** Adds a user that can log in by SASL. */
        public Builder user(String name, String password) {
            users.add(name + ":" + password);
            return this;
        }

        /**
         * Creates an ACL, such as "User:alice allow READ,WRITE topic:orders*". Clients may then do only
         * what an ACL allows.
         */
        public Builder acl(String acl) {
            return arguments("--acl", acl);
        }

        /** Lets a principal, such as "User:admin", do everything. */
        public Builder superUser(String principal) {
            return arguments("--super-user", principal);
        }

        /** The tokens with which clients log in by OAUTHBEARER: unsecured, signed or any. */
        public Builder oauthbearer(String kind) {
            return arguments("--oauthbearer", kind);
        }

        /** What the brokers show with TLS: valid, expired, self-signed or wrong-host. */
        public Builder certificate(String kind) {
            return arguments("--certificate", kind);
        }

        /** Lets time stand still until {@link KafkaDouble#advance} moves it. */
        public Builder stepped() {
            return arguments("--stepped");
        }

        /** The file of a scenario, with which each start and each reset begins. */
        public Builder scenario(Path file) {
            return arguments("--scenario", file.toString());
        }

        /** Adds arguments of `kafkadouble serve`, such as "--data-dir", "/tmp/data". */
        public Builder arguments(String... more) {
            arguments.addAll(List.of(more));
            return this;
        }

        /** How long the start may take; without it, 30 seconds. */
        public Builder startTimeout(Duration timeout) {
            startTimeout = timeout;
            return this;
        }

        /** Starts the program, and returns once clients are accepted. Throws StartException. */
        public KafkaDouble start() {
            byte[] token = new byte[16];
            new SecureRandom().nextBytes(token);
            String text = HexFormat.of().formatHex(token);
            ServeProcess process = new ServeProcess(Program.ofThisMachine().words(program), arguments, users, text);
            try {
                process.awaitLines(startTimeout);
                KafkaDouble made = new KafkaDouble(process, text);
                made.becomeReady(startTimeout);
                return made;
            } catch (InterruptedException interrupted) {
                process.stop();
                Thread.currentThread().interrupt();
                throw new StartException("the start was interrupted", interrupted);
            } catch (RuntimeException problem) {
                process.stop();
                throw problem;
            }
        }
    }
}
