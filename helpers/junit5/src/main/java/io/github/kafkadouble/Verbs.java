// Made by helpers/generate; do not edit.

package io.github.kafkadouble;

import com.google.gson.JsonElement;
import com.google.gson.reflect.TypeToken;
import io.github.kafkadouble.Types.*;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Every verb of a double. Parameters that must be given are arguments; {@link Params} makes the
 * optional ones. Each method throws {@link UsageException} for a call that makes no sense, and
 * {@link KafkaErrorException} where Kafka would refuse.
 */
public abstract class Verbs {
    abstract <T> T call(String verb, TypeToken<T> result, Param[] params, Param... required);

    /**
     * The ACLs of the cluster, as texts. Raises KafkaError(SECURITY_DISABLED) if brokers do not
     * check ACLs.
     */
    public List<String> acls() {
        return call("acls", new TypeToken<List<String>>() {}, null);
    }

    /**
     * Adds a broker to a cluster, on a free port, and returns its id: one more than the
     * controller's, or the next free one. It has no replicas until topics are created or partitions
     * are reassigned. reset removes it again; after a stop, add_broker gives the same id and finds
     * its data.
     */
    public long addBroker() {
        return call("add_broker", new TypeToken<Long>() {}, null);
    }

    /**
     * Lets time pass, and does everything that is due. Raises UsageError unless the clock is
     * stepped or frozen.
     */
    public void advance(Duration seconds) {
        call("advance", new TypeToken<Void>() {}, null, new Param("seconds", seconds));
    }

    /**
     * Arms a fault rule, or the rule of a handle once more. Raises UsageError when it could never
     * apply.
     */
    public Rule arm(Object rule) {
        return call("arm", new TypeToken<Rule>() {}, null, new Param("rule", rule));
    }

    /**
     * Asserts that no request matches, as in of. The AssertionError shows those that do.
     *
     * <p>Optional: apis, topic, partition, group, transactionalId, clientId, principal, broker,
     * error, since.
     */
    public void assertNotSeen(Param... params) {
        call("assert_not_seen", new TypeToken<Void>() {}, params);
    }

    /**
     * Asserts that requests match, as in of: at least one, or exactly times. Returns them.
     *
     * <p>Optional: apis, times, topic, partition, group, transactionalId, clientId, principal,
     * broker, error, since.
     */
    public List<Request> assertSeen(Param... params) {
        return call("assert_seen", new TypeToken<List<Request>>() {}, params);
    }

    /**
     * Lets so many bytes pass in a second, in each direction of each connection.
     *
     * <p>Optional: times, onCall, probability, seed, afterSeconds, forSeconds, clientId, principal,
     * listener, broker, link, bothWays.
     */
    public Rule bandwidth(long bytesPerSecond, Param... params) {
        return call("bandwidth", new TypeToken<Rule>() {}, params, new Param("bytes_per_second", bytesPerSecond));
    }

    /**
     * A token of OAUTHBEARER for a user: with oauthbearer="signed" one of the issuer, else one
     * without a signature. claims, such as {"aud": "other"} or {"scope": ["read"]}, are added and
     * override those of every token. A negative lifetime makes a token that has expired.
     *
     * <p>Optional: lifetimeMs, claims.
     */
    public String bearerToken(String user, Param... params) {
        return call("bearer_token", new TypeToken<String>() {}, params, new Param("user", user));
    }

    /**
     * HOST:PORT of every broker on this listener. Raises UsageError for an unknown one.
     */
    public String bootstrap(String listener) {
        return call("bootstrap", new TypeToken<String>() {}, null, new Param("listener", listener));
    }

    /**
     * HOST:PORT of this broker on the listener with this name.
     */
    public String bootstrapOnBroker(long broker, String listener) {
        return call("bootstrap_on_broker", new TypeToken<String>() {}, null, new Param("broker", broker), new Param("listener", listener));
    }

    /**
     * Elects the same leader of the partition again, and returns the new leader epoch. Clients that
     * send the old epoch are fenced, and refresh their metadata.
     */
    public long bumpEpoch(String topic, long partition) {
        return call("bump_epoch", new TypeToken<Long>() {}, null, new Param("topic", topic), new Param("partition", partition));
    }

    /**
     * Sets a field in the next answer of an API. path has the names of Kafka's JSON, as
     * topics[0].partitions[*].leaderId.
     *
     * <p>Optional: times, onCall, probability, seed, afterSeconds, forSeconds, version, topic,
     * partition, group, transactionalId, memberId, clientId, principal, mechanism, listener,
     * broker, peers.
     */
    public Rule changeField(String api, String path, Object value, Param... params) {
        return call("change_field", new TypeToken<Rule>() {}, params, new Param("api", api), new Param("path", path), new Param("value", value));
    }

    /**
     * Removes the requests so far.
     */
    public void clearRequests() {
        call("clear_requests", new TypeToken<Void>() {}, null);
    }

    /**
     * Disarms every fault rule, including rules that other callers armed, and releases everything
     * that the rules hold.
     */
    public void clearRules() {
        call("clear_rules", new TypeToken<Void>() {}, null);
    }

    /**
     * The settings of a client, in the form of its library: confluent-kafka, kafka-python,
     * aiokafka, java, franz-go or kafkajs; or generic, a form for every other library. With SASL
     * the client logs in as user, by PLAIN or another mechanism; with SSL it shows a certificate of
     * this user. Its principal is User: and the name. With contents the settings have certificates
     * in place of names of files, for a client on another machine. listener is the listener that
     * the client connects to; the default is the first one that fits the user and the mechanism.
     *
     * <p>Optional: user, client, mechanism, contents, listener.
     */
    public Map<String, JsonElement> clientConfig(Param... params) {
        return call("client_config", new TypeToken<Map<String, JsonElement>>() {}, params);
    }

    /**
     * Commits offsets for a group, which need not exist, as an admin client does. offsets are by
     * topic and partition: {"orders": {"0": 5}}, or those of a group in groups.
     */
    public void commitOffsets(String group, Object offsets) {
        call("commit_offsets", new TypeToken<Void>() {}, null, new Param("group", group), new Param("offsets", offsets));
    }

    /**
     * Begins a new segment and compacts all segments before it, as the log cleaner does when it is
     * due. Segments that are compacted already are compacted again, so that tombstones that have
     * expired are removed. min.compaction.lag.ms and delete.retention.ms apply, and each replica is
     * compacted up to its own high watermark.
     *
     * <p>Optional: partition.
     */
    public void compact(String topic, Param... params) {
        call("compact", new TypeToken<Void>() {}, params, new Param("topic", topic));
    }

    /**
     * Damages the first batch of each partition in the next answer to a Fetch: its CRC ("crc"), or
     * one bit of its records ("bit").
     *
     * <p>Optional: how, times, onCall, probability, seed, afterSeconds, forSeconds, version, topic,
     * partition, group, transactionalId, memberId, clientId, principal, mechanism, listener,
     * broker, peers.
     */
    public Rule corruptRecords(Param... params) {
        return call("corrupt_records", new TypeToken<Rule>() {}, params);
    }

    /**
     * Creates ACLs, as texts such as User:alice allow READ,WRITE topic:orders* or as AclBindings.
     * They apply from the next request on. reset restores the ACLs of the start.
     */
    public void createAcls(Iterable<?> acls) {
        call("create_acls", new TypeToken<Void>() {}, null, new Param("acls", acls));
    }

    /**
     * Gives a topic more partitions: partitions is how many it has then. Clients notice them when
     * they refresh their metadata. Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION,
     * INVALID_PARTITIONS if it has as many already.
     */
    public void createPartitions(String topic, long partitions) {
        call("create_partitions", new TypeToken<Void>() {}, null, new Param("topic", topic), new Param("partitions", partitions));
    }

    /**
     * Creates a topic, with default.replication.factor unless another is given. Raises KafkaError
     * where an admin client would get an error, such as TOPIC_ALREADY_EXISTS.
     *
     * <p>Optional: partitions, config, replicationFactor.
     */
    public void createTopic(String name, Param... params) {
        call("create_topic", new TypeToken<Void>() {}, params, new Param("name", name));
    }

    /**
     * Sends the first bytes of the next answer of an API, and closes the connection.
     *
     * <p>Optional: times, onCall, probability, seed, afterSeconds, forSeconds, version, topic,
     * partition, group, transactionalId, memberId, clientId, principal, mechanism, listener,
     * broker, peers.
     */
    public Rule cutFrame(String api, long bytes, Param... params) {
        return call("cut_frame", new TypeToken<Rule>() {}, params, new Param("api", api), new Param("bytes", bytes));
    }

    /**
     * Delays the next request to an API by a number of seconds of the broker's clock.
     *
     * <p>Optional: when, times, onCall, probability, seed, afterSeconds, forSeconds, version,
     * topic, partition, group, transactionalId, memberId, clientId, principal, mechanism, listener,
     * broker, peers.
     */
    public Rule delay(String api, Duration seconds, Param... params) {
        return call("delay", new TypeToken<Rule>() {}, params, new Param("api", api), new Param("seconds", seconds));
    }

    /**
     * Deletes exactly these ACLs, and returns those of them that existed.
     */
    public List<String> deleteAcls(Iterable<?> acls) {
        return call("delete_acls", new TypeToken<List<String>>() {}, null, new Param("acls", acls));
    }

    /**
     * Deletes a group and its offsets. Raises KafkaError: NON_EMPTY_GROUP if it has members,
     * GROUP_ID_NOT_FOUND.
     */
    public void deleteGroup(String group) {
        call("delete_group", new TypeToken<Void>() {}, null, new Param("group", group));
    }

    /**
     * Deletes the records of a partition before this offset, or all, as DeleteRecords does, and
     * returns the first offset that is left. Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION,
     * OFFSET_OUT_OF_RANGE.
     *
     * <p>Optional: before.
     */
    public long deleteRecords(String topic, long partition, Param... params) {
        return call("delete_records", new TypeToken<Long>() {}, params, new Param("topic", topic), new Param("partition", partition));
    }

    /**
     * Deletes a topic with its records. Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION).
     */
    public void deleteTopic(String name) {
        call("delete_topic", new TypeToken<Void>() {}, null, new Param("name", name));
    }

    /**
     * The id of the cluster, its controller, the time of its clock, and its brokers with their
     * addresses and states.
     */
    public ClusterDescription describeCluster() {
        return call("describe_cluster", new TypeToken<ClusterDescription>() {}, null);
    }

    /**
     * Closes the connection of the next request to an API, before or after the request is
     * processed.
     *
     * <p>Optional: after, times, onCall, probability, seed, afterSeconds, forSeconds, version,
     * topic, partition, group, transactionalId, memberId, clientId, principal, mechanism, listener,
     * broker, peers.
     */
    public Rule disconnect(String api, Param... params) {
        return call("disconnect", new TypeToken<Rule>() {}, params, new Param("api", api));
    }

    /**
     * Fails an "append", a "read" or a "flush" as a broken disk does (EIO). As in Kafka, the log
     * directory goes offline.
     *
     * <p>Optional: on, times, onCall, probability, seed, afterSeconds, forSeconds, topic,
     * partition, broker, logDir.
     */
    public Rule diskError(Param... params) {
        return call("disk_error", new TypeToken<Rule>() {}, params);
    }

    /**
     * Fails appends to partitions as a full disk does (ENOSPC). As in Kafka, the log directory goes
     * offline.
     *
     * <p>Optional: times, onCall, probability, seed, afterSeconds, forSeconds, topic, partition,
     * broker, logDir.
     */
    public Rule diskFull(Param... params) {
        return call("disk_full", new TypeToken<Rule>() {}, params);
    }

    /**
     * Lets each flush take so many seconds of the broker's clock. Records that must be flushed
     * before they count (flush.messages) wait for it.
     *
     * <p>Optional: times, onCall, probability, seed, afterSeconds, forSeconds, topic, partition,
     * broker, logDir.
     */
    public Rule diskSlow(Duration seconds, Param... params) {
        return call("disk_slow", new TypeToken<Rule>() {}, params, new Param("seconds", seconds));
    }

    /**
     * Shuts a broker down in order, or every broker if none is named; a single broker, too. Its
     * data stays, in memory as well. Clients get connection refused, and no other process gets the
     * port. Does nothing if the broker is down.
     *
     * <p>Optional: broker.
     */
    public void down(Param... params) {
        call("down", new TypeToken<Void>() {}, params);
    }

    /**
     * Processes the next request to an API, and does not answer it. The connection stays open, and
     * nothing else on it is answered.
     *
     * <p>Optional: times, onCall, probability, seed, afterSeconds, forSeconds, version, topic,
     * partition, group, transactionalId, memberId, clientId, principal, mechanism, listener,
     * broker, peers.
     */
    public Rule dropAnswer(String api, Param... params) {
        return call("drop_answer", new TypeToken<Rule>() {}, params, new Param("api", api));
    }

    /**
     * Forgets the snapshot with this name. Raises UsageError if there is none.
     */
    public void dropSnapshot(String name) {
        call("drop_snapshot", new TypeToken<Void>() {}, null, new Param("name", name));
    }

    /**
     * Elects the preferred leaders, the first replicas, of all partitions, of a topic, or of one
     * partition, as kafka-leader-election does. Returns the new leaders, by topic and partition; a
     * partition that its preferred leader leads already is left out.
     *
     * <p>Optional: topic, partition.
     */
    public Map<String, Map<Integer, Long>> electLeaders(Param... params) {
        return call("elect_leaders", new TypeToken<Map<String, Map<Integer, Long>>>() {}, params);
    }

    /**
     * The end offset of each partition, by index: the offset of the next record that a consumer
     * will read. Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION), LEADER_NOT_AVAILABLE.
     */
    public Map<Integer, Long> endOffsets(String topic) {
        return call("end_offsets", new TypeToken<Map<Integer, Long>>() {}, null, new Param("topic", topic));
    }

    /**
     * The leader epochs in the partition's log, each with its start offset, oldest first.
     */
    public Map<Integer, Long> epochs(String topic, long partition) {
        return call("epochs", new TypeToken<Map<Integer, Long>>() {}, null, new Param("topic", topic), new Param("partition", partition));
    }

    /**
     * Removes a member from a group at once, as the end of its session does: the others rebalance,
     * and its next request is answered with UNKNOWN_MEMBER_ID. member_id may be the instance id of
     * a static member. groups has the members.
     */
    public void expireMember(String group, String memberId) {
        call("expire_member", new TypeToken<Void>() {}, null, new Param("group", group), new Param("member_id", memberId));
    }

    /**
     * Ends the sessions of clients that logged in by SASL, as connections.max.reauth.ms does later
     * (KIP-368). principal limits this to one principal, such as User:alice. The broker closes such
     * a connection at its next request, unless the client authenticates again first. Returns the
     * number of connections.
     *
     * <p>Optional: principal.
     */
    public long expireSaslSessions(Param... params) {
        return call("expire_sasl_sessions", new TypeToken<Long>() {}, params);
    }

    /**
     * Ends the session of a broker at once, as broker.session.timeout.ms does later: the controller
     * fences it, and other brokers lead its partitions. A broker that was killed can be started at
     * once then; one that runs is fenced until its next heartbeat.
     */
    public void expireSession(long broker) {
        call("expire_session", new TypeToken<Void>() {}, null, new Param("broker", broker));
    }

    /**
     * Aborts the open transaction of this id at once, as transaction.timeout.ms does later: its
     * producer is fenced. Raises KafkaError: TRANSACTIONAL_ID_NOT_FOUND, INVALID_TXN_STATE if no
     * transaction is open.
     */
    public void expireTransaction(String transactionalId) {
        call("expire_transaction", new TypeToken<Void>() {}, null, new Param("transactional_id", transactionalId));
    }

    /**
     * Answers the next request to an API with an error. A list of errors is a dialogue: the first
     * element is for the next request, the second for the one behind it, and so on; null is for a
     * request that is served as usual.
     *
     * <p>Optional: message, when, times, onCall, probability, seed, afterSeconds, forSeconds,
     * version, topic, partition, group, transactionalId, memberId, clientId, principal, mechanism,
     * listener, broker, peers.
     */
    public Rule fail(String api, Object error, Param... params) {
        return call("fail", new TypeToken<Rule>() {}, params, new Param("api", api), new Param("error", error));
    }

    /**
     * Flushes a partition's log to the disk, as after flush.ms; returns the offset up to which the
     * leader's log is flushed. In memory, everything always is.
     */
    public long flush(String topic, long partition) {
        return call("flush", new TypeToken<Long>() {}, null, new Param("topic", topic), new Param("partition", partition));
    }

    /**
     * Stops the clock: nothing expires, and records that have no timestamp get the same one.
     * advance moves a frozen clock as a stepped one. Does nothing if the clock stands still.
     */
    public void freeze() {
        call("freeze", new TypeToken<Void>() {}, null);
    }

    /**
     * The groups, by id: their state, members, committed offsets and lag.
     */
    public Map<String, GroupDescription> groups() {
        return call("groups", new TypeToken<Map<String, GroupDescription>>() {}, null);
    }

    /**
     * Neither reads nor answers anything on connections, and keeps them open, until the rule is
     * released. Then everything that was held goes on.
     *
     * <p>Optional: times, onCall, probability, seed, afterSeconds, forSeconds, clientId, principal,
     * listener, broker, link, bothWays.
     */
    public Rule halfOpen(Param... params) {
        return call("half_open", new TypeToken<Rule>() {}, params);
    }

    /**
     * Appends a record of a transaction that no coordinator knows, and returns its producer id. The
     * transaction hangs: consumers with read_committed read nothing from it on, until an
     * administrator aborts it (kafka-transactions abort).
     *
     * <p>Optional: value.
     */
    public long hangTransaction(String topic, long partition, Param... params) {
        return call("hang_transaction", new TypeToken<Long>() {}, params, new Param("topic", topic), new Param("partition", partition));
    }

    /**
     * Neither processes nor answers the next request to an API. The connection stays open, and
     * nothing else on it is answered.
     *
     * <p>Optional: times, onCall, probability, seed, afterSeconds, forSeconds, version, topic,
     * partition, group, transactionalId, memberId, clientId, principal, mechanism, listener,
     * broker, peers.
     */
    public Rule ignore(String api, Param... params) {
        return call("ignore", new TypeToken<Rule>() {}, params, new Param("api", api));
    }

    /**
     * Cuts the broker off from the other brokers and the controller, also after a restart. Clients
     * still reach it.
     */
    public void isolateBroker(long broker) {
        call("isolate_broker", new TypeToken<Void>() {}, null, new Param("broker", broker));
    }

    /**
     * The ids of the in-sync replicas. Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION).
     */
    public List<Long> isr(String topic, long partition) {
        return call("isr", new TypeToken<List<Long>>() {}, null, new Param("topic", topic), new Param("partition", partition));
    }

    /**
     * Ends the isolation.
     */
    public void joinBroker(long broker) {
        call("join_broker", new TypeToken<Void>() {}, null, new Param("broker", broker));
    }

    /**
     * Ends the broker without notice, as kill -9 does; its log stays for its next start. The
     * controller notices when the broker's session times out, after broker.session.timeout.ms (9
     * s).
     */
    public void killBroker(long broker) {
        call("kill_broker", new TypeToken<Void>() {}, null, new Param("broker", broker));
    }

    /**
     * Lets bytes pass so many seconds of the broker's clock later, in each direction, and with
     * jitter up to so many seconds earlier or later than that. Their order stays.
     *
     * <p>Optional: jitter, times, onCall, probability, seed, afterSeconds, forSeconds, clientId,
     * principal, listener, broker, link, bothWays.
     */
    public Rule latency(Duration seconds, Param... params) {
        return call("latency", new TypeToken<Rule>() {}, params, new Param("seconds", seconds));
    }

    /**
     * The id of the leader, or null. Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION).
     */
    public Long leader(String topic, long partition) {
        return call("leader", new TypeToken<Long>() {}, null, new Param("topic", topic), new Param("partition", partition));
    }

    /**
     * The epoch of the partition's leader, which the next batch carries.
     */
    public long leaderEpoch(String topic, long partition) {
        return call("leader_epoch", new TypeToken<Long>() {}, null, new Param("topic", topic), new Param("partition", partition));
    }

    /**
     * The habits of clients in requests that hurt in production, each with the requests that show
     * it. ignore has names of rules. Works after a stop too.
     *
     * <p>Optional: ignore.
     */
    public List<LintFinding> lint(Param... params) {
        return call("lint", new TypeToken<List<LintFinding>>() {}, params);
    }

    /**
     * Reports flushes as done without doing them. The writes that the flushes covered are lost when
     * the broker is killed.
     *
     * <p>Optional: times, onCall, probability, seed, afterSeconds, forSeconds, topic, partition,
     * broker, logDir.
     */
    public Rule loseFlushes(Param... params) {
        return call("lose_flushes", new TypeToken<Rule>() {}, params);
    }

    /**
     * Metrics of the snapshots of the cluster's metadata, by their names in Apache Kafka and
     * KIP-630; latencies are in ms. With several brokers these are the metrics of the controller;
     * brokers[1].metrics are those of a broker.
     */
    public Map<String, JsonElement> metrics() {
        return call("metrics", new TypeToken<Map<String, JsonElement>>() {}, null);
    }

    /**
     * Makes another broker the coordinator of a group: the leader of the group's partition of
     * __consumer_offsets. Returns the index of that partition.
     */
    public long moveCoordinator(String group, long to) {
        return call("move_coordinator", new TypeToken<Long>() {}, null, new Param("group", group), new Param("to", to));
    }

    /**
     * Elects another broker as leader of a partition, and returns the new leader epoch. Raises
     * KafkaError: REPLICA_NOT_AVAILABLE if that broker has no replica,
     * ELIGIBLE_LEADERS_NOT_AVAILABLE if it is not alive and in sync.
     */
    public long moveLeader(String topic, long partition, long to) {
        return call("move_leader", new TypeToken<Long>() {}, null, new Param("topic", topic), new Param("partition", partition), new Param("to", to));
    }

    /**
     * Makes another broker the coordinator of a transactional id: the leader of its partition of
     * __transaction_state. Returns the index of that partition.
     */
    public long moveTransactionCoordinator(String transactionalId, long to) {
        return call("move_transaction_coordinator", new TypeToken<Long>() {}, null, new Param("transactional_id", transactionalId), new Param("to", to));
    }

    /**
     * Answers the next request to an API with a frame that claims a size that it does not have.
     *
     * <p>Optional: times, onCall, probability, seed, afterSeconds, forSeconds, version, topic,
     * partition, group, transactionalId, memberId, clientId, principal, mechanism, listener,
     * broker, peers.
     */
    public Rule oversizedFrame(String api, long bytes, Param... params) {
        return call("oversized_frame", new TypeToken<Rule>() {}, params, new Param("api", api), new Param("bytes", bytes));
    }

    /**
     * The leader, the replicas, the offsets and the epochs of a partition, at one moment. Raises
     * KafkaError(UNKNOWN_TOPIC_OR_PARTITION).
     */
    public PartitionState partition(String topic, long partition) {
        return call("partition", new TypeToken<PartitionState>() {}, null, new Param("topic", topic), new Param("partition", partition));
    }

    /**
     * Holds the next request to an API until the release of the handle.
     *
     * <p>Optional: when, times, onCall, probability, seed, afterSeconds, forSeconds, version,
     * topic, partition, group, transactionalId, memberId, clientId, principal, mechanism, listener,
     * broker, peers.
     */
    public Rule pause(String api, Param... params) {
        return call("pause", new TypeToken<Rule>() {}, params, new Param("api", api));
    }

    /**
     * Pauses the broker, as SIGSTOP pauses a process: connections stay open, and no request is
     * answered. Raises UsageError if the broker does not run.
     */
    public void pauseBroker(long broker) {
        call("pause_broker", new TypeToken<Void>() {}, null, new Param("broker", broker));
    }

    /**
     * Appends one record, and returns its offset. Text becomes UTF-8. timestamp is in ms since the
     * epoch; the default is the broker's time.
     *
     * <p>Optional: value, key, headers, partition, timestamp.
     */
    public long produce(String topic, Param... params) {
        return call("produce", new TypeToken<Long>() {}, params, new Param("topic", topic));
    }

    /**
     * Appends many records in batches, and returns how many. Each is a value, or a mapping with
     * some of value, key, headers, partition and timestamp, as the parameters of produce, or a
     * record from records, which keeps its timestamp. partition is for records that have none.
     *
     * <p>Optional: partition.
     */
    public long produceAll(String topic, Iterable<?> records, Param... params) {
        return call("produce_all", new TypeToken<Long>() {}, params, new Param("topic", topic), new Param("records", records));
    }

    /**
     * Begins to move the replicas of a partition to these brokers, as kafka-reassign-partitions
     * does; the first is the preferred leader. It ends when the new replicas are in sync; topics
     * has the replicas.
     */
    public void reassign(String topic, long partition, long[] replicas) {
        call("reassign", new TypeToken<Void>() {}, null, new Param("topic", topic), new Param("partition", partition), new Param("replicas", replicas));
    }

    /**
     * Begins to move the replicas of a partition to these brokers, as kafka-reassign-partitions
     * does; the first is the preferred leader. It ends when the new replicas are in sync; topics
     * has the replicas.
     */
    public void reassign(String topic, long partition, List<? extends Number> replicas) {
        call("reassign", new TypeToken<Void>() {}, null, new Param("topic", topic), new Param("partition", partition), new Param("replicas", replicas));
    }

    /**
     * Lets a group with members rebalance, as if one had joined. Members notice it with their next
     * heartbeat.
     */
    public void rebalance(String group) {
        call("rebalance", new TypeToken<Void>() {}, null, new Param("group", group));
    }

    /**
     * The records of a topic, or of one partition, by partition and offset. read_committed leaves
     * out aborted records, and everything from the first open transaction on. since leaves out what
     * is before an offset, or what was read: records, or offsets by partition. key, value, header
     * and offset are what a record has; header is a name, or values by name.
     *
     * <p>Optional: partition, isolation, since, key, value, header, offset.
     */
    public List<TopicRecord> records(String topic, Param... params) {
        return call("records", new TypeToken<List<TopicRecord>>() {}, params, new Param("topic", topic));
    }

    /**
     * Resets each new connection at once. Connections that exist go on.
     *
     * <p>Optional: times, onCall, probability, seed, afterSeconds, forSeconds, clientId, principal,
     * listener, broker, link, bothWays.
     */
    public Rule refuseConnections(Param... params) {
        return call("refuse_connections", new TypeToken<Rule>() {}, params);
    }

    /**
     * Shuts a broker down in order and unregisters it. It must have no replicas; with reassign true
     * they are moved to the other brokers first. The id is not used again before a reset, which
     * brings a broker back that was there at the start.
     *
     * <p>Optional: reassign.
     */
    public void removeBroker(long broker, Param... params) {
        call("remove_broker", new TypeToken<Void>() {}, params, new Param("broker", broker));
    }

    /**
     * Removes every member from a group at once, as the ends of their sessions do, and returns how
     * many there were. Members that live join again. Raises KafkaError(GROUP_ID_NOT_FOUND).
     */
    public long removeMembers(String group) {
        return call("remove_members", new TypeToken<Long>() {}, null, new Param("group", group));
    }

    /**
     * Removes all quotas of a user, of a client id, of both together, or of an ip; does nothing if
     * there are none.
     *
     * <p>Optional: user, clientId, ip.
     */
    public void removeQuota(Param... params) {
        call("remove_quota", new TypeToken<Void>() {}, params);
    }

    /**
     * Disarms a rule, given by its handle or its id, and releases everything that the rule holds. A
     * second call for the same rule has no effect.
     */
    public void removeRule(long rule) {
        call("remove_rule", new TypeToken<Void>() {}, null, new Param("rule", rule));
    }

    /**
     * Disarms a rule, given by its handle or its id, and releases everything that the rule holds. A
     * second call for the same rule has no effect.
     */
    public void removeRule(Rule rule) {
        call("remove_rule", new TypeToken<Void>() {}, null, new Param("rule", rule));
    }

    /**
     * Removes a user. Clients that are authenticated as this user stay so, as in Kafka, until
     * expire_sasl_sessions ends their sessions.
     */
    public void removeUser(String user) {
        call("remove_user", new TypeToken<Void>() {}, null, new Param("user", user));
    }

    /**
     * Tells what happened, as text: the last count requests, and earlier ones with an error or a
     * rule; the fault rules, and what came near those that nothing matched; brokers that do not
     * serve; topics with their offsets; groups with their lag; open transactions. It works while
     * brokers are down, and after a stop.
     *
     * <p>Optional: count.
     */
    public String report(Param... params) {
        return call("report", new TypeToken<String>() {}, params);
    }

    /**
     * The requests to these APIs (all, if none is given) that match every keyword.
     *
     * <p>Optional: apis, topic, partition, group, transactionalId, clientId, principal, broker,
     * error, since.
     */
    public List<Request> requests(Param... params) {
        return call("requests", new TypeToken<List<Request>>() {}, params);
    }

    /**
     * Restarts the cluster empty: without topics, groups, rules and requests, with every connection
     * closed, every broker running, and a clock that was frozen or scaled as it was at first. Ports
     * and cluster id stay, so clients that connect again find the empty cluster. Then the scenario
     * is applied again, if there is one. Clients that are members of a group learn that it
     * rebalances: their commits succeed, and are not kept, until they have joined again.
     */
    public void reset() {
        call("reset", new TypeToken<Void>() {}, null);
    }

    /**
     * Resets each connection when so many bytes have passed on it since the rule was armed, in both
     * directions together.
     *
     * <p>Optional: times, onCall, probability, seed, afterSeconds, forSeconds, clientId, principal,
     * listener, broker, link, bothWays.
     */
    public Rule resetAfter(long bytes, Param... params) {
        return call("reset_after", new TypeToken<Rule>() {}, params, new Param("bytes", bytes));
    }

    /**
     * Commits other offsets for a group: with to="earliest" the first offset of each partition,
     * with "latest" its end offset, or one given offset; if the log does not have it, the nearest
     * one. Returns the committed offsets. As for kafka-consumer-groups --reset-offsets, the group
     * must have no members.
     *
     * <p>Optional: partition.
     */
    public Map<String, Map<Integer, Long>> resetOffsets(String group, String topic, Object to, Param... params) {
        return call("reset_offsets", new TypeToken<Map<String, Map<Integer, Long>>>() {}, params, new Param("group", group), new Param("topic", topic), new Param("to", to));
    }

    /**
     * Answers the next request to an API with this response, and does not process the request. body
     * is a response, or a mapping as in Kafka's JSON; fields that it lacks have their default.
     * Bytes are sent as they are, behind the header of the response. A list is a dialogue: the
     * first element is for the next request, the second for the one behind it, and so on. There the
     * name or the number of an error is that error, and null is for a request that is served as
     * usual.
     *
     * <p>Optional: times, onCall, probability, seed, afterSeconds, forSeconds, version, topic,
     * partition, group, transactionalId, memberId, clientId, principal, mechanism, listener,
     * broker, peers.
     */
    public Rule respond(String api, Object body, Param... params) {
        return call("respond", new TypeToken<Rule>() {}, params, new Param("api", api), new Param("body", body));
    }

    /**
     * Restarts the cluster with the contents of a snapshot, given itself or by its name, as reset
     * restarts it empty: with every connection closed, every broker running, without rules and
     * requests, and a clock that was frozen or scaled as it was at first. Ports and cluster id
     * stay. The snapshot may be of another double with the same number of brokers. A scenario is
     * not applied again, and its steps end.
     */
    public void restore(String snapshot) {
        call("restore", new TypeToken<Void>() {}, null, new Param("snapshot", snapshot));
    }

    /**
     * Restarts the cluster with the contents of a snapshot, given itself or by its name, as reset
     * restarts it empty: with every connection closed, every broker running, without rules and
     * requests, and a clock that was frozen or scaled as it was at first. Ports and cluster id
     * stay. The snapshot may be of another double with the same number of brokers. A scenario is
     * not applied again, and its steps end.
     */
    public void restore(Snapshot snapshot) {
        call("restore", new TypeToken<Void>() {}, null, new Param("snapshot", snapshot));
    }

    /**
     * Ends the pause.
     */
    public void resumeBroker(long broker) {
        call("resume_broker", new TypeToken<Void>() {}, null, new Param("broker", broker));
    }

    /**
     * Applies retention.ms and retention.bytes now, and returns the log start offset of each
     * partition. As in Kafka, whole segments are deleted.
     *
     * <p>Optional: partition.
     */
    public Map<Integer, Long> retain(String topic, Param... params) {
        return call("retain", new TypeToken<Map<Integer, Long>>() {}, params, new Param("topic", topic));
    }

    /**
     * Closes the active segment of a partition's log and begins a new one, as after segment.ms;
     * returns its base offset. An empty segment stays.
     */
    public long roll(String topic, long partition) {
        return call("roll", new TypeToken<Long>() {}, null, new Param("topic", topic), new Param("partition", partition));
    }

    /**
     * The armed rules, oldest first. A spent rule is not armed any more.
     */
    public List<Rule> rules() {
        return call("rules", new TypeToken<List<Rule>>() {}, null);
    }

    /**
     * Makes the clock go factor times as fast as the machine's: with 10, a time-out of 45 s takes
     * 4.5 s. factor is from 0.000001 to 1000000; with 1 the clock is as fast as at first. A frozen
     * clock goes so fast when it goes on. Clients keep the machine's time, so a large factor ends
     * the sessions of members, and of brokers that cannot send their heartbeats as fast. Raises
     * UsageError for a stepped clock.
     */
    public void scale(double factor) {
        call("scale", new TypeToken<Void>() {}, null, new Param("factor", factor));
    }

    /**
     * The steps of the scenario since the last start or reset, each with its state: pending, done
     * or failed, with its error. Works after a stop too.
     */
    public List<StepOutcome> scenarioSteps() {
        return call("scenario_steps", new TypeToken<List<StepOutcome>>() {}, null);
    }

    /**
     * Assigns partitions to the members of a consumer group or a share group by hand, instead of
     * the coordinator. assignment has (topic, partition) pairs by member id, or by the instance id
     * of a static member; any other member gets none. It holds until the group rebalances again;
     * members reconcile with it as with any other.
     */
    public void setAssignment(String group, Object assignment) {
        call("set_assignment", new TypeToken<Void>() {}, null, new Param("group", group), new Param("assignment", assignment));
    }

    /**
     * Lets running brokers show another certificate to new connections: valid, expired, self-signed
     * or wrong-host. reset restores the certificate of the start.
     */
    public void setCertificate(String certificate) {
        call("set_certificate", new TypeToken<Void>() {}, null, new Param("certificate", certificate));
    }

    /**
     * Subscribes to metrics that clients push (KIP-714): metrics are prefixes of their names or *,
     * interval.ms is the time between two pushes, and match has patterns of clients, such as
     * client_id=shop.*. An empty config removes the subscription.
     */
    public void setClientMetrics(String name, Object config) {
        call("set_client_metrics", new TypeToken<Void>() {}, null, new Param("name", name), new Param("config", config));
    }

    /**
     * Sets quotas of a user, of a client id, or of both together; or connection_creation_rate of an
     * ip. "&lt;default>" means every user, client id or ip without a quota of its own. Other quotas
     * of the same entity stay. A client beyond its quota is throttled as by Apache Kafka.
     *
     * <p>Optional: user, clientId, ip, producerByteRate, consumerByteRate, requestPercentage,
     * controllerMutationRate, connectionCreationRate.
     */
    public void setQuota(Param... params) {
        call("set_quota", new TypeToken<Void>() {}, params);
    }

    /**
     * Sets configs of a topic, and leaves the others: {"retention.ms": 1000}. A value of null
     * brings the default back. Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION, INVALID_CONFIG.
     */
    public void setTopicConfig(String topic, Object config) {
        call("set_topic_config", new TypeToken<Void>() {}, null, new Param("topic", topic), new Param("config", config));
    }

    /**
     * Adds a user, or changes the password of a user, for PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512.
     * Clients that are authenticated stay so, until expire_sasl_sessions ends their sessions. reset
     * restores the users of the start.
     */
    public void setUser(String user, String password) {
        call("set_user", new TypeToken<Void>() {}, null, new Param("user", user), new Param("password", password));
    }

    /**
     * Answers the next request to an API with a frame of the first bytes of the answer.
     *
     * <p>Optional: times, onCall, probability, seed, afterSeconds, forSeconds, version, topic,
     * partition, group, transactionalId, memberId, clientId, principal, mechanism, listener,
     * broker, peers.
     */
    public Rule shortFrame(String api, long bytes, Param... params) {
        return call("short_frame", new TypeToken<Rule>() {}, params, new Param("api", api), new Param("bytes", bytes));
    }

    /**
     * Lets bytes pass in pieces of at most bytes, each gap seconds after the one before it.
     *
     * <p>Optional: gap, times, onCall, probability, seed, afterSeconds, forSeconds, clientId,
     * principal, listener, broker, link, bothWays.
     */
    public Rule sliceFrames(long bytes, Param... params) {
        return call("slice_frames", new TypeToken<Rule>() {}, params, new Param("bytes", bytes));
    }

    /**
     * Closes connections so many seconds later than they would be closed.
     *
     * <p>Optional: times, onCall, probability, seed, afterSeconds, forSeconds, clientId, principal,
     * listener, broker, link, bothWays.
     */
    public Rule slowClose(Duration seconds, Param... params) {
        return call("slow_close", new TypeToken<Rule>() {}, params, new Param("seconds", seconds));
    }

    /**
     * Sends the next answer of an API slowly.
     *
     * <p>Optional: times, onCall, probability, seed, afterSeconds, forSeconds, version, topic,
     * partition, group, transactionalId, memberId, clientId, principal, mechanism, listener,
     * broker, peers.
     */
    public Rule slowFrame(String api, long bytesPerSecond, Param... params) {
        return call("slow_frame", new TypeToken<Rule>() {}, params, new Param("api", api), new Param("bytes_per_second", bytesPerSecond));
    }

    /**
     * Returns the contents of the double at this moment, for restore: topics with their records and
     * configs, groups with their offsets, transactions, leaders and epochs, and everything else in
     * the metadata. It is in memory, outlives a stop, and may be restored any number of times.
     * Nothing changes for clients.
     *
     * <p>Optional: name.
     */
    public Snapshot snapshot(Param... params) {
        return call("snapshot", new TypeToken<Snapshot>() {}, params);
    }

    /**
     * The snapshots that were taken with a name, by name.
     */
    public Map<String, Snapshot> snapshots() {
        return call("snapshots", new TypeToken<Map<String, Snapshot>>() {}, null);
    }

    /**
     * Answers the next request from the cluster's metadata of now.
     *
     * <p>Optional: api, times, onCall, probability, seed, afterSeconds, forSeconds, version, topic,
     * partition, group, transactionalId, memberId, clientId, principal, mechanism, listener,
     * broker, peers.
     */
    public Rule staleMetadata(Param... params) {
        return call("stale_metadata", new TypeToken<Rule>() {}, params);
    }

    /**
     * Starts the broker on its old log, behind the same port. As in Kafka 4.4, it joins the cluster
     * only after the session of its previous incarnation has timed out.
     */
    public void startBroker(long broker) {
        call("start_broker", new TypeToken<Void>() {}, null, new Param("broker", broker));
    }

    /**
     * Shuts the broker down in order: other brokers take over its partitions first, and confirm
     * that with their next heartbeat. As in Kafka this takes up to two seconds; a stepped clock
     * moves by as much.
     */
    public void stopBroker(long broker) {
        call("stop_broker", new TypeToken<Void>() {}, null, new Param("broker", broker));
    }

    /**
     * The newest metrics that clients pushed (KIP-714), at most 10,000 values, oldest first. Works
     * after a stop too. Raises UsageError without telemetry.
     */
    public List<JsonElement> telemetry() {
        return call("telemetry", new TypeToken<List<JsonElement>>() {}, null);
    }

    /**
     * Answers the next request to an API with this throttle time, and processes nothing on the
     * connection for so long (KIP-219).
     *
     * <p>Optional: times, onCall, probability, seed, afterSeconds, forSeconds, version, topic,
     * partition, group, transactionalId, memberId, clientId, principal, mechanism, listener,
     * broker, peers.
     */
    public Rule throttle(String api, Duration seconds, Param... params) {
        return call("throttle", new TypeToken<Rule>() {}, params, new Param("api", api), new Param("seconds", seconds));
    }

    /**
     * The topics by name: the leaders, replicas, in-sync replicas and offsets of their partitions,
     * and the configs that were set. Internal topics are left out unless internal is true.
     *
     * <p>Optional: internal.
     */
    public Map<String, TopicDescription> topics(Param... params) {
        return call("topics", new TypeToken<Map<String, TopicDescription>>() {}, params);
    }

    /**
     * The transactional ids, each with its state, producer and partitions.
     */
    public Map<String, Transaction> transactions() {
        return call("transactions", new TypeToken<Map<String, Transaction>>() {}, null);
    }

    /**
     * Removes the records from offset on, in whole batches, as if a broker that lacks them was
     * elected; returns the new leader epoch, which begins there. Raises KafkaError:
     * OFFSET_OUT_OF_RANGE if the log has no such offset, UNKNOWN_TOPIC_OR_PARTITION.
     */
    public long truncate(String topic, long partition, long offset) {
        return call("truncate", new TypeToken<Long>() {}, null, new Param("topic", topic), new Param("partition", partition), new Param("offset", offset));
    }

    /**
     * Elects a live replica that is not in sync as leader of a partition without a leader: the
     * replica on broker to, or else the first. Returns the id of its broker. Records that the
     * replica lacks are lost.
     *
     * <p>Optional: to.
     */
    public long uncleanElection(String topic, long partition, Param... params) {
        return call("unclean_election", new TypeToken<Long>() {}, params, new Param("topic", topic), new Param("partition", partition));
    }

    /**
     * Lets a frozen clock go on, from the time at which it stands. Does nothing if it runs. Raises
     * UsageError for a stepped clock.
     */
    public void unfreeze() {
        call("unfreeze", new TypeToken<Void>() {}, null);
    }

    /**
     * The rules that have matched nothing since the start or the last reset, oldest first. Removed
     * rules are included. The latest 1000 rules are remembered.
     */
    public List<JsonElement> unusedRules() {
        return call("unused_rules", new TypeToken<List<JsonElement>>() {}, null);
    }

    /**
     * Starts a broker that is down, or every broker, on its data and behind the same port, and
     * waits until it serves clients. Does nothing if the broker runs. Fault rules and requests
     * stay.
     *
     * <p>Optional: broker.
     */
    public void up(Param... params) {
        call("up", new TypeToken<Void>() {}, params);
    }

    /**
     * Waits until a broker that was started is part of the cluster. That can take as long as the
     * session of its previous incarnation.
     *
     * <p>Optional: timeout, advance.
     */
    public void waitForBroker(long broker, Param... params) {
        call("wait_for_broker", new TypeToken<Void>() {}, params, new Param("broker", broker));
    }

    /**
     * Waits until a group is in this state (Kafka's name, such as Stable), has so many members, and
     * is at most lag records behind. lag 0 waits until everything was consumed and committed: a
     * partition of a member, and without members one of a topic with a commit, counts as unread as
     * long as it has no committed offset. With ready it waits until the group is Stable and its
     * members get each record that is produced from now on: the client of each member has fetched
     * each of its partitions since it was assigned, so that it knows its position. Without a state,
     * it waits for any but Dead.
     *
     * <p>Optional: state, members, lag, ready, timeout, advance.
     */
    public GroupDescription waitForGroup(String group, Param... params) {
        return call("wait_for_group", new TypeToken<GroupDescription>() {}, params, new Param("group", group));
    }

    /**
     * Waits until these brokers, and no other ones, are the in-sync replicas of a partition.
     *
     * <p>Optional: timeout, advance.
     */
    public void waitForIsr(String topic, long partition, long[] isr, Param... params) {
        call("wait_for_isr", new TypeToken<Void>() {}, params, new Param("topic", topic), new Param("partition", partition), new Param("isr", isr));
    }

    /**
     * Waits until these brokers, and no other ones, are the in-sync replicas of a partition.
     *
     * <p>Optional: timeout, advance.
     */
    public void waitForIsr(String topic, long partition, List<? extends Number> isr, Param... params) {
        call("wait_for_isr", new TypeToken<Void>() {}, params, new Param("topic", topic), new Param("partition", partition), new Param("isr", isr));
    }

    /**
     * Waits until a partition has a leader, or this broker as leader, in this leader epoch or a
     * later one. Returns the id of the leader.
     *
     * <p>Optional: leader, epoch, timeout, advance.
     */
    public long waitForLeader(String topic, long partition, Param... params) {
        return call("wait_for_leader", new TypeToken<Long>() {}, params, new Param("topic", topic), new Param("partition", partition));
    }

    /**
     * Waits until a topic, or one partition, has at least count records, and returns them all. The
     * topic need not exist yet. The filters are those of records.
     *
     * <p>Optional: count, partition, isolation, timeout, advance, since, key, value, header,
     * offset.
     */
    public List<TopicRecord> waitForRecords(String topic, Param... params) {
        return call("wait_for_records", new TypeToken<List<TopicRecord>>() {}, params, new Param("topic", topic));
    }

    /**
     * Waits until count requests of this API have arrived, and returns the last of them. Earlier
     * requests count, until requests.clear. The keywords are those of requests.of.
     *
     * <p>Optional: count, timeout, advance, topic, partition, group, transactionalId, clientId,
     * principal, broker, error, since.
     */
    public Request waitForRequest(String api, Param... params) {
        return call("wait_for_request", new TypeToken<Request>() {}, params, new Param("api", api));
    }

    /**
     * Waits until a fault rule, given by its handle or its id, was applied so many times.
     *
     * <p>Optional: hits, timeout, advance.
     */
    public void waitForRule(long rule, Param... params) {
        call("wait_for_rule", new TypeToken<Void>() {}, params, new Param("rule", rule));
    }

    /**
     * Waits until a fault rule, given by its handle or its id, was applied so many times.
     *
     * <p>Optional: hits, timeout, advance.
     */
    public void waitForRule(Rule rule, Param... params) {
        call("wait_for_rule", new TypeToken<Void>() {}, params, new Param("rule", rule));
    }

    /**
     * Waits until a topic exists, with this number of partitions if it is given.
     *
     * <p>Optional: partitions, timeout, advance.
     */
    public void waitForTopic(String topic, Param... params) {
        call("wait_for_topic", new TypeToken<Void>() {}, params, new Param("topic", topic));
    }

    /**
     * Waits until a transactional id is in this state (Kafka's name, such as CompleteCommit).
     *
     * <p>Optional: timeout, advance.
     */
    public Transaction waitForTransaction(String transactionalId, String state, Param... params) {
        return call("wait_for_transaction", new TypeToken<Transaction>() {}, params, new Param("transactional_id", transactionalId), new Param("state", state));
    }

    /**
     * Answers the next request to an API with a correlation id that is too large by 1.
     *
     * <p>Optional: times, onCall, probability, seed, afterSeconds, forSeconds, version, topic,
     * partition, group, transactionalId, memberId, clientId, principal, mechanism, listener,
     * broker, peers.
     */
    public Rule wrongCorrelationId(String api, Param... params) {
        return call("wrong_correlation_id", new TypeToken<Rule>() {}, params, new Param("api", api));
    }
}
