// Made by helpers/generate; do not edit.

package io.github.kafkadouble;

import io.github.kafkadouble.Types.Request;
import io.github.kafkadouble.Types.TopicRecord;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The optional parameters of the verbs, for a static import. */
public final class Params {
    private Params() {}

    /** A rule applies until it is removed: the parameter times is null. */
    public static Param everyTime() {
        return new Param("times", null);
    }

    /**
     * The parameter advance: true or false.
     */
    public static Param advance(boolean value) {
        return new Param("advance", value);
    }

    /**
     * The parameter after: true or false.
     */
    public static Param after(boolean value) {
        return new Param("after", value);
    }

    /**
     * The parameter after_seconds: a number of seconds from 0 to 86400.
     */
    public static Param afterSeconds(Duration value) {
        return new Param("after_seconds", value);
    }

    /**
     * The parameter api: the name of an API, or *.
     */
    public static Param api(String value) {
        return new Param("api", value);
    }

    /**
     * The parameter apis: names of APIs.
     */
    public static Param apis(String... value) {
        return new Param("apis", value);
    }

    /**
     * The parameter before: an offset.
     */
    public static Param before(long value) {
        return new Param("before", value);
    }

    /**
     * The parameter both_ways: true or false.
     */
    public static Param bothWays(boolean value) {
        return new Param("both_ways", value);
    }

    /**
     * The parameter broker: the id of a broker, or a node id from 0.
     */
    public static Param broker(long value) {
        return new Param("broker", value);
    }

    /**
     * The parameter claims: a mapping of claims to values.
     */
    public static Param claims(Object value) {
        return new Param("claims", value);
    }

    /**
     * The parameter client: the name of a client library.
     */
    public static Param client(String value) {
        return new Param("client", value);
    }

    /**
     * The parameter client_id: a text.
     */
    public static Param clientId(String value) {
        return new Param("client_id", value);
    }

    /**
     * The parameter config: an object with names and values.
     */
    public static Param config(Object value) {
        return new Param("config", value);
    }

    /**
     * The parameter connection_creation_rate: a number of connections per second.
     */
    public static Param connectionCreationRate(double value) {
        return new Param("connection_creation_rate", value);
    }

    /**
     * The parameter consumer_byte_rate: a number of bytes per second.
     */
    public static Param consumerByteRate(double value) {
        return new Param("consumer_byte_rate", value);
    }

    /**
     * The parameter contents: true or false.
     */
    public static Param contents(boolean value) {
        return new Param("contents", value);
    }

    /**
     * The parameter controller_mutation_rate: a number of partitions per second.
     */
    public static Param controllerMutationRate(double value) {
        return new Param("controller_mutation_rate", value);
    }

    /**
     * The parameter count: a count from 1.
     */
    public static Param count(long value) {
        return new Param("count", value);
    }

    /**
     * The parameter epoch: an integer from 0.
     */
    public static Param epoch(long value) {
        return new Param("epoch", value);
    }

    /**
     * The parameter error: the name or the number of an error, true or false.
     */
    public static Param error(Object value) {
        return new Param("error", value);
    }

    /**
     * The parameter for_seconds: a number of seconds from 0 to 86400.
     */
    public static Param forSeconds(Duration value) {
        return new Param("for_seconds", value);
    }

    /**
     * The parameter gap: a number of seconds from 0 to 86400.
     */
    public static Param gap(Duration value) {
        return new Param("gap", value);
    }

    /**
     * The parameter group: a name, or a group's id.
     */
    public static Param group(String value) {
        return new Param("group", value);
    }

    /**
     * The parameter header: the name of a header, or headers with their values.
     */
    public static Param header(Object value) {
        return new Param("header", value);
    }

    /**
     * The parameter headers: pairs of a name and a value.
     */
    public static Param headers(Object value) {
        return new Param("headers", value);
    }

    /**
     * The parameter hits: a count from 1.
     */
    public static Param hits(long value) {
        return new Param("hits", value);
    }

    /**
     * The parameter how: crc or bit.
     */
    public static Param how(String value) {
        return new Param("how", value);
    }

    /**
     * The parameter ignore: names of rules.
     */
    public static Param ignore(String... value) {
        return new Param("ignore", value);
    }

    /**
     * The parameter internal: true or false.
     */
    public static Param internal(boolean value) {
        return new Param("internal", value);
    }

    /**
     * The parameter ip: an address.
     */
    public static Param ip(String value) {
        return new Param("ip", value);
    }

    /**
     * The parameter isolation: read_uncommitted or read_committed.
     */
    public static Param isolation(String value) {
        return new Param("isolation", value);
    }

    /**
     * The parameter jitter: a number of seconds from 0 to 86400.
     */
    public static Param jitter(Duration value) {
        return new Param("jitter", value);
    }

    /**
     * The parameter key: a text, a byte[], or null.
     */
    public static Param key(Object value) {
        return new Param("key", value);
    }

    /**
     * The parameter lag: a number of records from 0.
     */
    public static Param lag(long value) {
        return new Param("lag", value);
    }

    /**
     * The parameter leader: the id of a broker.
     */
    public static Param leader(long value) {
        return new Param("leader", value);
    }

    /**
     * The parameter lifetime_ms: a number of milliseconds.
     */
    public static Param lifetimeMs(long value) {
        return new Param("lifetime_ms", value);
    }

    /**
     * The parameter link: a pair of two node ids, as [1, 2], where null is any node.
     */
    public static Param link(Iterable<?> value) {
        return new Param("link", value);
    }

    /**
     * The parameter listener: a listener's name, or the name of a listener.
     */
    public static Param listener(String value) {
        return new Param("listener", value);
    }

    /**
     * The parameter log_dir: the path of a log directory.
     */
    public static Param logDir(String value) {
        return new Param("log_dir", value);
    }

    /**
     * The parameter mechanism: the name of a SASL mechanism.
     */
    public static Param mechanism(String value) {
        return new Param("mechanism", value);
    }

    /**
     * The parameter member_id: the id of a member, or the instance id of a static one.
     */
    public static Param memberId(String value) {
        return new Param("member_id", value);
    }

    /**
     * The parameter members: a count from 0.
     */
    public static Param members(long value) {
        return new Param("members", value);
    }

    /**
     * The parameter message: a text.
     */
    public static Param message(String value) {
        return new Param("message", value);
    }

    /**
     * The parameter name: a name of 1 to 249 characters.
     */
    public static Param name(String value) {
        return new Param("name", value);
    }

    /**
     * The parameter offset: an offset from 0.
     */
    public static Param offset(long value) {
        return new Param("offset", value);
    }

    /**
     * The parameter on: append or read or flush.
     */
    public static Param on(String value) {
        return new Param("on", value);
    }

    /**
     * The parameter on_call: a count from 1.
     */
    public static Param onCall(long value) {
        return new Param("on_call", value);
    }

    /**
     * The parameter partition: an index from 0.
     */
    public static Param partition(long value) {
        return new Param("partition", value);
    }

    /**
     * The parameter partitions: a number of partitions.
     */
    public static Param partitions(long value) {
        return new Param("partitions", value);
    }

    /**
     * The parameter peers: true or false.
     */
    public static Param peers(boolean value) {
        return new Param("peers", value);
    }

    /**
     * The parameter principal: a type and a name, such as User:alice.
     */
    public static Param principal(String value) {
        return new Param("principal", value);
    }

    /**
     * The parameter probability: a number from 0 to 1.
     */
    public static Param probability(double value) {
        return new Param("probability", value);
    }

    /**
     * The parameter producer_byte_rate: a number of bytes per second.
     */
    public static Param producerByteRate(double value) {
        return new Param("producer_byte_rate", value);
    }

    /**
     * The parameter ready: true or false.
     */
    public static Param ready(boolean value) {
        return new Param("ready", value);
    }

    /**
     * The parameter reassign: true or false.
     */
    public static Param reassign(boolean value) {
        return new Param("reassign", value);
    }

    /**
     * The parameter replication_factor: a number of replicas.
     */
    public static Param replicationFactor(long value) {
        return new Param("replication_factor", value);
    }

    /**
     * The parameter request_percentage: a percentage of the time of one thread.
     */
    public static Param requestPercentage(double value) {
        return new Param("request_percentage", value);
    }

    /**
     * The parameter seed: an integer from 0.
     */
    public static Param seed(long value) {
        return new Param("seed", value);
    }

    /**
     * The parameter since: milliseconds since the epoch, or a request, or an offset from 0, records
     * that were read, or offsets by partition.
     */
    public static Param since(long value) {
        return new Param("since", value);
    }

    /**
     * The parameter since: milliseconds since the epoch, or a request, or an offset from 0, records
     * that were read, or offsets by partition.
     */
    public static Param since(Request value) {
        return new Param("since", value);
    }

    /**
     * The parameter since: milliseconds since the epoch, or a request, or an offset from 0, records
     * that were read, or offsets by partition.
     */
    public static Param since(List<TopicRecord> value) {
        return new Param("since", value);
    }

    /**
     * The parameter since: milliseconds since the epoch, or a request, or an offset from 0, records
     * that were read, or offsets by partition.
     */
    public static Param since(Map<Integer, Long> value) {
        return new Param("since", value);
    }

    /**
     * The parameter state: the name of a state.
     */
    public static Param state(String value) {
        return new Param("state", value);
    }

    /**
     * The parameter timeout: a number of seconds.
     */
    public static Param timeout(Duration value) {
        return new Param("timeout", value);
    }

    /**
     * The parameter times: a number of requests from 0, or a count from 1, or null for every time.
     */
    public static Param times(long value) {
        return new Param("times", value);
    }

    /**
     * The parameter timestamp: an integer, milliseconds since the epoch.
     */
    public static Param timestamp(long value) {
        return new Param("timestamp", value);
    }

    /**
     * The parameter to: the id of a broker.
     */
    public static Param to(long value) {
        return new Param("to", value);
    }

    /**
     * The parameter topic: a name, or a topic's name.
     */
    public static Param topic(String value) {
        return new Param("topic", value);
    }

    /**
     * The parameter transactional_id: a name, or a text.
     */
    public static Param transactionalId(String value) {
        return new Param("transactional_id", value);
    }

    /**
     * The parameter user: the name of a user.
     */
    public static Param user(String value) {
        return new Param("user", value);
    }

    /**
     * The parameter value: a text, a byte[], or null.
     */
    public static Param value(Object value) {
        return new Param("value", value);
    }

    /**
     * The parameter version: a version from 0.
     */
    public static Param version(long value) {
        return new Param("version", value);
    }

    /**
     * The parameter when: before or after.
     */
    public static Param when(String value) {
        return new Param("when", value);
    }
}
