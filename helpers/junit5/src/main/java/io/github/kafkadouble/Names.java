// Made by helpers/generate; do not edit.

package io.github.kafkadouble;

/** The names of APIs, errors and states, for parameters and results that are texts. */
public final class Names {
    private Names() {}

    /** Every api name. */
    public static final class ApiName {
        private ApiName() {}

        public static final String PRODUCE = "Produce";
        public static final String FETCH = "Fetch";
        public static final String LIST_OFFSETS = "ListOffsets";
        public static final String METADATA = "Metadata";
        public static final String OFFSET_COMMIT = "OffsetCommit";
        public static final String OFFSET_FETCH = "OffsetFetch";
        public static final String FIND_COORDINATOR = "FindCoordinator";
        public static final String JOIN_GROUP = "JoinGroup";
        public static final String HEARTBEAT = "Heartbeat";
        public static final String LEAVE_GROUP = "LeaveGroup";
        public static final String SYNC_GROUP = "SyncGroup";
        public static final String DESCRIBE_GROUPS = "DescribeGroups";
        public static final String LIST_GROUPS = "ListGroups";
        public static final String SASL_HANDSHAKE = "SaslHandshake";
        public static final String API_VERSIONS = "ApiVersions";
        public static final String CREATE_TOPICS = "CreateTopics";
        public static final String DELETE_TOPICS = "DeleteTopics";
        public static final String DELETE_RECORDS = "DeleteRecords";
        public static final String INIT_PRODUCER_ID = "InitProducerId";
        public static final String OFFSET_FOR_LEADER_EPOCH = "OffsetForLeaderEpoch";
        public static final String ADD_PARTITIONS_TO_TXN = "AddPartitionsToTxn";
        public static final String ADD_OFFSETS_TO_TXN = "AddOffsetsToTxn";
        public static final String END_TXN = "EndTxn";
        public static final String WRITE_TXN_MARKERS = "WriteTxnMarkers";
        public static final String TXN_OFFSET_COMMIT = "TxnOffsetCommit";
        public static final String DESCRIBE_ACLS = "DescribeAcls";
        public static final String CREATE_ACLS = "CreateAcls";
        public static final String DELETE_ACLS = "DeleteAcls";
        public static final String DESCRIBE_CONFIGS = "DescribeConfigs";
        public static final String ALTER_CONFIGS = "AlterConfigs";
        public static final String ALTER_REPLICA_LOG_DIRS = "AlterReplicaLogDirs";
        public static final String DESCRIBE_LOG_DIRS = "DescribeLogDirs";
        public static final String SASL_AUTHENTICATE = "SaslAuthenticate";
        public static final String CREATE_PARTITIONS = "CreatePartitions";
        public static final String CREATE_DELEGATION_TOKEN = "CreateDelegationToken";
        public static final String RENEW_DELEGATION_TOKEN = "RenewDelegationToken";
        public static final String EXPIRE_DELEGATION_TOKEN = "ExpireDelegationToken";
        public static final String DESCRIBE_DELEGATION_TOKEN = "DescribeDelegationToken";
        public static final String DELETE_GROUPS = "DeleteGroups";
        public static final String ELECT_LEADERS = "ElectLeaders";
        public static final String INCREMENTAL_ALTER_CONFIGS = "IncrementalAlterConfigs";
        public static final String ALTER_PARTITION_REASSIGNMENTS = "AlterPartitionReassignments";
        public static final String LIST_PARTITION_REASSIGNMENTS = "ListPartitionReassignments";
        public static final String OFFSET_DELETE = "OffsetDelete";
        public static final String DESCRIBE_CLIENT_QUOTAS = "DescribeClientQuotas";
        public static final String ALTER_CLIENT_QUOTAS = "AlterClientQuotas";
        public static final String DESCRIBE_USER_SCRAM_CREDENTIALS = "DescribeUserScramCredentials";
        public static final String ALTER_USER_SCRAM_CREDENTIALS = "AlterUserScramCredentials";
        public static final String VOTE = "Vote";
        public static final String BEGIN_QUORUM_EPOCH = "BeginQuorumEpoch";
        public static final String END_QUORUM_EPOCH = "EndQuorumEpoch";
        public static final String DESCRIBE_QUORUM = "DescribeQuorum";
        public static final String ALTER_PARTITION = "AlterPartition";
        public static final String UPDATE_FEATURES = "UpdateFeatures";
        public static final String ENVELOPE = "Envelope";
        public static final String FETCH_SNAPSHOT = "FetchSnapshot";
        public static final String DESCRIBE_CLUSTER = "DescribeCluster";
        public static final String DESCRIBE_PRODUCERS = "DescribeProducers";
        public static final String BROKER_REGISTRATION = "BrokerRegistration";
        public static final String BROKER_HEARTBEAT = "BrokerHeartbeat";
        public static final String UNREGISTER_BROKER = "UnregisterBroker";
        public static final String DESCRIBE_TRANSACTIONS = "DescribeTransactions";
        public static final String LIST_TRANSACTIONS = "ListTransactions";
        public static final String ALLOCATE_PRODUCER_IDS = "AllocateProducerIds";
        public static final String CONSUMER_GROUP_HEARTBEAT = "ConsumerGroupHeartbeat";
        public static final String CONSUMER_GROUP_DESCRIBE = "ConsumerGroupDescribe";
        public static final String CONTROLLER_REGISTRATION = "ControllerRegistration";
        public static final String GET_TELEMETRY_SUBSCRIPTIONS = "GetTelemetrySubscriptions";
        public static final String PUSH_TELEMETRY = "PushTelemetry";
        public static final String ASSIGN_REPLICAS_TO_DIRS = "AssignReplicasToDirs";
        public static final String LIST_CONFIG_RESOURCES = "ListConfigResources";
        public static final String DESCRIBE_TOPIC_PARTITIONS = "DescribeTopicPartitions";
        public static final String SHARE_GROUP_HEARTBEAT = "ShareGroupHeartbeat";
        public static final String SHARE_GROUP_DESCRIBE = "ShareGroupDescribe";
        public static final String SHARE_FETCH = "ShareFetch";
        public static final String SHARE_ACKNOWLEDGE = "ShareAcknowledge";
        public static final String ADD_RAFT_VOTER = "AddRaftVoter";
        public static final String REMOVE_RAFT_VOTER = "RemoveRaftVoter";
        public static final String UPDATE_RAFT_VOTER = "UpdateRaftVoter";
        public static final String INITIALIZE_SHARE_GROUP_STATE = "InitializeShareGroupState";
        public static final String READ_SHARE_GROUP_STATE = "ReadShareGroupState";
        public static final String WRITE_SHARE_GROUP_STATE = "WriteShareGroupState";
        public static final String DELETE_SHARE_GROUP_STATE = "DeleteShareGroupState";
        public static final String READ_SHARE_GROUP_STATE_SUMMARY = "ReadShareGroupStateSummary";
        public static final String STREAMS_GROUP_HEARTBEAT = "StreamsGroupHeartbeat";
        public static final String STREAMS_GROUP_DESCRIBE = "StreamsGroupDescribe";
        public static final String DESCRIBE_SHARE_GROUP_OFFSETS = "DescribeShareGroupOffsets";
        public static final String ALTER_SHARE_GROUP_OFFSETS = "AlterShareGroupOffsets";
        public static final String DELETE_SHARE_GROUP_OFFSETS = "DeleteShareGroupOffsets";
        public static final String STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE = "StreamsGroupTopologyDescriptionUpdate";
        public static final String UNREGISTER_CONTROLLER = "UnregisterController";
    }

    /** Every error name. */
    public static final class ErrorName {
        private ErrorName() {}

        public static final String UNKNOWN_SERVER_ERROR = "UNKNOWN_SERVER_ERROR";
        public static final String OFFSET_OUT_OF_RANGE = "OFFSET_OUT_OF_RANGE";
        public static final String CORRUPT_MESSAGE = "CORRUPT_MESSAGE";
        public static final String UNKNOWN_TOPIC_OR_PARTITION = "UNKNOWN_TOPIC_OR_PARTITION";
        public static final String INVALID_FETCH_SIZE = "INVALID_FETCH_SIZE";
        public static final String LEADER_NOT_AVAILABLE = "LEADER_NOT_AVAILABLE";
        public static final String NOT_LEADER_OR_FOLLOWER = "NOT_LEADER_OR_FOLLOWER";
        public static final String REQUEST_TIMED_OUT = "REQUEST_TIMED_OUT";
        public static final String BROKER_NOT_AVAILABLE = "BROKER_NOT_AVAILABLE";
        public static final String REPLICA_NOT_AVAILABLE = "REPLICA_NOT_AVAILABLE";
        public static final String MESSAGE_TOO_LARGE = "MESSAGE_TOO_LARGE";
        public static final String STALE_CONTROLLER_EPOCH = "STALE_CONTROLLER_EPOCH";
        public static final String OFFSET_METADATA_TOO_LARGE = "OFFSET_METADATA_TOO_LARGE";
        public static final String NETWORK_EXCEPTION = "NETWORK_EXCEPTION";
        public static final String COORDINATOR_LOAD_IN_PROGRESS = "COORDINATOR_LOAD_IN_PROGRESS";
        public static final String COORDINATOR_NOT_AVAILABLE = "COORDINATOR_NOT_AVAILABLE";
        public static final String NOT_COORDINATOR = "NOT_COORDINATOR";
        public static final String INVALID_TOPIC_EXCEPTION = "INVALID_TOPIC_EXCEPTION";
        public static final String RECORD_LIST_TOO_LARGE = "RECORD_LIST_TOO_LARGE";
        public static final String NOT_ENOUGH_REPLICAS = "NOT_ENOUGH_REPLICAS";
        public static final String NOT_ENOUGH_REPLICAS_AFTER_APPEND = "NOT_ENOUGH_REPLICAS_AFTER_APPEND";
        public static final String INVALID_REQUIRED_ACKS = "INVALID_REQUIRED_ACKS";
        public static final String ILLEGAL_GENERATION = "ILLEGAL_GENERATION";
        public static final String INCONSISTENT_GROUP_PROTOCOL = "INCONSISTENT_GROUP_PROTOCOL";
        public static final String INVALID_GROUP_ID = "INVALID_GROUP_ID";
        public static final String UNKNOWN_MEMBER_ID = "UNKNOWN_MEMBER_ID";
        public static final String INVALID_SESSION_TIMEOUT = "INVALID_SESSION_TIMEOUT";
        public static final String REBALANCE_IN_PROGRESS = "REBALANCE_IN_PROGRESS";
        public static final String INVALID_COMMIT_OFFSET_SIZE = "INVALID_COMMIT_OFFSET_SIZE";
        public static final String TOPIC_AUTHORIZATION_FAILED = "TOPIC_AUTHORIZATION_FAILED";
        public static final String GROUP_AUTHORIZATION_FAILED = "GROUP_AUTHORIZATION_FAILED";
        public static final String CLUSTER_AUTHORIZATION_FAILED = "CLUSTER_AUTHORIZATION_FAILED";
        public static final String INVALID_TIMESTAMP = "INVALID_TIMESTAMP";
        public static final String UNSUPPORTED_SASL_MECHANISM = "UNSUPPORTED_SASL_MECHANISM";
        public static final String ILLEGAL_SASL_STATE = "ILLEGAL_SASL_STATE";
        public static final String UNSUPPORTED_VERSION = "UNSUPPORTED_VERSION";
        public static final String TOPIC_ALREADY_EXISTS = "TOPIC_ALREADY_EXISTS";
        public static final String INVALID_PARTITIONS = "INVALID_PARTITIONS";
        public static final String INVALID_REPLICATION_FACTOR = "INVALID_REPLICATION_FACTOR";
        public static final String INVALID_REPLICA_ASSIGNMENT = "INVALID_REPLICA_ASSIGNMENT";
        public static final String INVALID_CONFIG = "INVALID_CONFIG";
        public static final String NOT_CONTROLLER = "NOT_CONTROLLER";
        public static final String INVALID_REQUEST = "INVALID_REQUEST";
        public static final String UNSUPPORTED_FOR_MESSAGE_FORMAT = "UNSUPPORTED_FOR_MESSAGE_FORMAT";
        public static final String POLICY_VIOLATION = "POLICY_VIOLATION";
        public static final String OUT_OF_ORDER_SEQUENCE_NUMBER = "OUT_OF_ORDER_SEQUENCE_NUMBER";
        public static final String DUPLICATE_SEQUENCE_NUMBER = "DUPLICATE_SEQUENCE_NUMBER";
        public static final String INVALID_PRODUCER_EPOCH = "INVALID_PRODUCER_EPOCH";
        public static final String INVALID_TXN_STATE = "INVALID_TXN_STATE";
        public static final String INVALID_PRODUCER_ID_MAPPING = "INVALID_PRODUCER_ID_MAPPING";
        public static final String INVALID_TRANSACTION_TIMEOUT = "INVALID_TRANSACTION_TIMEOUT";
        public static final String CONCURRENT_TRANSACTIONS = "CONCURRENT_TRANSACTIONS";
        public static final String TRANSACTION_COORDINATOR_FENCED = "TRANSACTION_COORDINATOR_FENCED";
        public static final String TRANSACTIONAL_ID_AUTHORIZATION_FAILED = "TRANSACTIONAL_ID_AUTHORIZATION_FAILED";
        public static final String SECURITY_DISABLED = "SECURITY_DISABLED";
        public static final String OPERATION_NOT_ATTEMPTED = "OPERATION_NOT_ATTEMPTED";
        public static final String KAFKA_STORAGE_ERROR = "KAFKA_STORAGE_ERROR";
        public static final String LOG_DIR_NOT_FOUND = "LOG_DIR_NOT_FOUND";
        public static final String SASL_AUTHENTICATION_FAILED = "SASL_AUTHENTICATION_FAILED";
        public static final String UNKNOWN_PRODUCER_ID = "UNKNOWN_PRODUCER_ID";
        public static final String REASSIGNMENT_IN_PROGRESS = "REASSIGNMENT_IN_PROGRESS";
        public static final String DELEGATION_TOKEN_AUTH_DISABLED = "DELEGATION_TOKEN_AUTH_DISABLED";
        public static final String DELEGATION_TOKEN_NOT_FOUND = "DELEGATION_TOKEN_NOT_FOUND";
        public static final String DELEGATION_TOKEN_OWNER_MISMATCH = "DELEGATION_TOKEN_OWNER_MISMATCH";
        public static final String DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED";
        public static final String DELEGATION_TOKEN_AUTHORIZATION_FAILED = "DELEGATION_TOKEN_AUTHORIZATION_FAILED";
        public static final String DELEGATION_TOKEN_EXPIRED = "DELEGATION_TOKEN_EXPIRED";
        public static final String INVALID_PRINCIPAL_TYPE = "INVALID_PRINCIPAL_TYPE";
        public static final String NON_EMPTY_GROUP = "NON_EMPTY_GROUP";
        public static final String GROUP_ID_NOT_FOUND = "GROUP_ID_NOT_FOUND";
        public static final String FETCH_SESSION_ID_NOT_FOUND = "FETCH_SESSION_ID_NOT_FOUND";
        public static final String INVALID_FETCH_SESSION_EPOCH = "INVALID_FETCH_SESSION_EPOCH";
        public static final String LISTENER_NOT_FOUND = "LISTENER_NOT_FOUND";
        public static final String TOPIC_DELETION_DISABLED = "TOPIC_DELETION_DISABLED";
        public static final String FENCED_LEADER_EPOCH = "FENCED_LEADER_EPOCH";
        public static final String UNKNOWN_LEADER_EPOCH = "UNKNOWN_LEADER_EPOCH";
        public static final String UNSUPPORTED_COMPRESSION_TYPE = "UNSUPPORTED_COMPRESSION_TYPE";
        public static final String STALE_BROKER_EPOCH = "STALE_BROKER_EPOCH";
        public static final String OFFSET_NOT_AVAILABLE = "OFFSET_NOT_AVAILABLE";
        public static final String MEMBER_ID_REQUIRED = "MEMBER_ID_REQUIRED";
        public static final String PREFERRED_LEADER_NOT_AVAILABLE = "PREFERRED_LEADER_NOT_AVAILABLE";
        public static final String GROUP_MAX_SIZE_REACHED = "GROUP_MAX_SIZE_REACHED";
        public static final String FENCED_INSTANCE_ID = "FENCED_INSTANCE_ID";
        public static final String ELIGIBLE_LEADERS_NOT_AVAILABLE = "ELIGIBLE_LEADERS_NOT_AVAILABLE";
        public static final String ELECTION_NOT_NEEDED = "ELECTION_NOT_NEEDED";
        public static final String NO_REASSIGNMENT_IN_PROGRESS = "NO_REASSIGNMENT_IN_PROGRESS";
        public static final String GROUP_SUBSCRIBED_TO_TOPIC = "GROUP_SUBSCRIBED_TO_TOPIC";
        public static final String INVALID_RECORD = "INVALID_RECORD";
        public static final String UNSTABLE_OFFSET_COMMIT = "UNSTABLE_OFFSET_COMMIT";
        public static final String THROTTLING_QUOTA_EXCEEDED = "THROTTLING_QUOTA_EXCEEDED";
        public static final String PRODUCER_FENCED = "PRODUCER_FENCED";
        public static final String RESOURCE_NOT_FOUND = "RESOURCE_NOT_FOUND";
        public static final String DUPLICATE_RESOURCE = "DUPLICATE_RESOURCE";
        public static final String UNACCEPTABLE_CREDENTIAL = "UNACCEPTABLE_CREDENTIAL";
        public static final String INCONSISTENT_VOTER_SET = "INCONSISTENT_VOTER_SET";
        public static final String INVALID_UPDATE_VERSION = "INVALID_UPDATE_VERSION";
        public static final String FEATURE_UPDATE_FAILED = "FEATURE_UPDATE_FAILED";
        public static final String PRINCIPAL_DESERIALIZATION_FAILURE = "PRINCIPAL_DESERIALIZATION_FAILURE";
        public static final String SNAPSHOT_NOT_FOUND = "SNAPSHOT_NOT_FOUND";
        public static final String POSITION_OUT_OF_RANGE = "POSITION_OUT_OF_RANGE";
        public static final String UNKNOWN_TOPIC_ID = "UNKNOWN_TOPIC_ID";
        public static final String DUPLICATE_BROKER_REGISTRATION = "DUPLICATE_BROKER_REGISTRATION";
        public static final String BROKER_ID_NOT_REGISTERED = "BROKER_ID_NOT_REGISTERED";
        public static final String INCONSISTENT_TOPIC_ID = "INCONSISTENT_TOPIC_ID";
        public static final String INCONSISTENT_CLUSTER_ID = "INCONSISTENT_CLUSTER_ID";
        public static final String TRANSACTIONAL_ID_NOT_FOUND = "TRANSACTIONAL_ID_NOT_FOUND";
        public static final String FETCH_SESSION_TOPIC_ID_ERROR = "FETCH_SESSION_TOPIC_ID_ERROR";
        public static final String INELIGIBLE_REPLICA = "INELIGIBLE_REPLICA";
        public static final String NEW_LEADER_ELECTED = "NEW_LEADER_ELECTED";
        public static final String OFFSET_MOVED_TO_TIERED_STORAGE = "OFFSET_MOVED_TO_TIERED_STORAGE";
        public static final String FENCED_MEMBER_EPOCH = "FENCED_MEMBER_EPOCH";
        public static final String UNRELEASED_INSTANCE_ID = "UNRELEASED_INSTANCE_ID";
        public static final String UNSUPPORTED_ASSIGNOR = "UNSUPPORTED_ASSIGNOR";
        public static final String STALE_MEMBER_EPOCH = "STALE_MEMBER_EPOCH";
        public static final String MISMATCHED_ENDPOINT_TYPE = "MISMATCHED_ENDPOINT_TYPE";
        public static final String UNSUPPORTED_ENDPOINT_TYPE = "UNSUPPORTED_ENDPOINT_TYPE";
        public static final String UNKNOWN_CONTROLLER_ID = "UNKNOWN_CONTROLLER_ID";
        public static final String UNKNOWN_SUBSCRIPTION_ID = "UNKNOWN_SUBSCRIPTION_ID";
        public static final String TELEMETRY_TOO_LARGE = "TELEMETRY_TOO_LARGE";
        public static final String INVALID_REGISTRATION = "INVALID_REGISTRATION";
        public static final String TRANSACTION_ABORTABLE = "TRANSACTION_ABORTABLE";
        public static final String INVALID_RECORD_STATE = "INVALID_RECORD_STATE";
        public static final String SHARE_SESSION_NOT_FOUND = "SHARE_SESSION_NOT_FOUND";
        public static final String INVALID_SHARE_SESSION_EPOCH = "INVALID_SHARE_SESSION_EPOCH";
        public static final String FENCED_STATE_EPOCH = "FENCED_STATE_EPOCH";
        public static final String INVALID_VOTER_KEY = "INVALID_VOTER_KEY";
        public static final String DUPLICATE_VOTER = "DUPLICATE_VOTER";
        public static final String VOTER_NOT_FOUND = "VOTER_NOT_FOUND";
        public static final String INVALID_REGULAR_EXPRESSION = "INVALID_REGULAR_EXPRESSION";
        public static final String REBOOTSTRAP_REQUIRED = "REBOOTSTRAP_REQUIRED";
        public static final String STREAMS_INVALID_TOPOLOGY = "STREAMS_INVALID_TOPOLOGY";
        public static final String STREAMS_INVALID_TOPOLOGY_EPOCH = "STREAMS_INVALID_TOPOLOGY_EPOCH";
        public static final String STREAMS_TOPOLOGY_FENCED = "STREAMS_TOPOLOGY_FENCED";
        public static final String SHARE_SESSION_LIMIT_REACHED = "SHARE_SESSION_LIMIT_REACHED";
        public static final String GROUP_DELETION_FAILED = "GROUP_DELETION_FAILED";
        public static final String STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED = "STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED";
        public static final String CONTROLLER_ID_NOT_REGISTERED = "CONTROLLER_ID_NOT_REGISTERED";
    }

    /** Every group state. */
    public static final class GroupState {
        private GroupState() {}

        public static final String EMPTY = "Empty";
        public static final String PREPARING_REBALANCE = "PreparingRebalance";
        public static final String COMPLETING_REBALANCE = "CompletingRebalance";
        public static final String STABLE = "Stable";
        public static final String DEAD = "Dead";
        public static final String ASSIGNING = "Assigning";
        public static final String RECONCILING = "Reconciling";
        public static final String NOT_READY = "NotReady";
    }

    /** Every group type. */
    public static final class GroupType {
        private GroupType() {}

        public static final String CLASSIC = "classic";
        public static final String CONSUMER = "consumer";
        public static final String SHARE = "share";
        public static final String STREAMS = "streams";
    }

    /** Every transaction state. */
    public static final class TransactionState {
        private TransactionState() {}

        public static final String EMPTY = "Empty";
        public static final String ONGOING = "Ongoing";
        public static final String PREPARE_COMMIT = "PrepareCommit";
        public static final String PREPARE_ABORT = "PrepareAbort";
        public static final String COMPLETE_COMMIT = "CompleteCommit";
        public static final String COMPLETE_ABORT = "CompleteAbort";
        public static final String DEAD = "Dead";
        public static final String PREPARE_EPOCH_FENCE = "PrepareEpochFence";
    }

    /** Every broker state. */
    public static final class BrokerState {
        private BrokerState() {}

        public static final String RUNNING = "running";
        public static final String PAUSED = "paused";
        public static final String ISOLATED = "isolated";
        public static final String STOPPED = "stopped";
    }

    /** Every request outcome. */
    public static final class RequestOutcome {
        private RequestOutcome() {}

        public static final String WAITING = "waiting";
        public static final String ANSWERED = "answered";
        public static final String UNANSWERED = "unanswered";
        public static final String DISCONNECTED = "disconnected";
        public static final String ABANDONED = "abandoned";
    }

    /** Every step state. */
    public static final class StepState {
        private StepState() {}

        public static final String PENDING = "pending";
        public static final String DONE = "done";
        public static final String FAILED = "failed";
    }

    /** Every rule action. */
    public static final class RuleAction {
        private RuleAction() {}

        public static final String FAIL = "fail";
        public static final String DELAY = "delay";
        public static final String PAUSE = "pause";
        public static final String DISCONNECT = "disconnect";
        public static final String IGNORE = "ignore";
        public static final String DROP_ANSWER = "drop_answer";
        public static final String THROTTLE = "throttle";
        public static final String RESPOND = "respond";
        public static final String DIALOGUE = "dialogue";
        public static final String CHANGE_FIELD = "change_field";
        public static final String CORRUPT_RECORDS = "corrupt_records";
        public static final String STALE_METADATA = "stale_metadata";
        public static final String WRONG_CORRELATION_ID = "wrong_correlation_id";
        public static final String CUT_FRAME = "cut_frame";
        public static final String SHORT_FRAME = "short_frame";
        public static final String OVERSIZED_FRAME = "oversized_frame";
        public static final String SLOW_FRAME = "slow_frame";
        public static final String CALL = "call";
        public static final String REFUSE_CONNECTIONS = "refuse_connections";
        public static final String LATENCY = "latency";
        public static final String BANDWIDTH = "bandwidth";
        public static final String SLICE_FRAMES = "slice_frames";
        public static final String RESET_AFTER = "reset_after";
        public static final String HALF_OPEN = "half_open";
        public static final String SLOW_CLOSE = "slow_close";
        public static final String DISK_FULL = "disk_full";
        public static final String DISK_ERROR = "disk_error";
        public static final String DISK_SLOW = "disk_slow";
        public static final String LOSE_FLUSHES = "lose_flushes";
    }

    /** Every lint rule. */
    public static final class LintRule {
        private LintRule() {}

        public static final String RETRY_WITHOUT_IDEMPOTENCE = "retry-without-idempotence";
        public static final String COMMIT_WITHOUT_OWNERSHIP = "commit-without-ownership";
        public static final String COMMIT_PER_RECORD = "commit-per-record";
        public static final String BUSY_FETCH_LOOP = "busy-fetch-loop";
        public static final String OLD_VERSION = "old-version";
        public static final String IGNORED_THROTTLE = "ignored-throttle";
        public static final String METADATA_STORM = "metadata-storm";
        public static final String TOPIC_CREATED_BY_ACCIDENT = "topic-created-by-accident";
        public static final String CONNECTION_PER_REQUEST = "connection-per-request";
    }

    /** Every client library. */
    public static final class ClientLibrary {
        private ClientLibrary() {}

        public static final String CONFLUENT_KAFKA = "confluent-kafka";
        public static final String KAFKA_PYTHON = "kafka-python";
        public static final String AIOKAFKA = "aiokafka";
        public static final String JAVA = "java";
        public static final String FRANZ_GO = "franz-go";
        public static final String KAFKAJS = "kafkajs";
        public static final String GENERIC = "generic";
    }
}
