"""Kafka's error codes as data: plain ints, with their names, and what they mean to a client.

`error_codes.NOT_LEADER_OR_FOLLOWER` is 6, and `name(6)` is its name; `name` and its siblings accept
unknown codes. The list is that of Kafka 4.4 (`org.apache.kafka.common.protocol.Errors`); the
meanings are in our own words. A broker never sends NETWORK_EXCEPTION.
"""

from __future__ import annotations

UNKNOWN_SERVER_ERROR = -1
NONE = 0
OFFSET_OUT_OF_RANGE = 1
CORRUPT_MESSAGE = 2
UNKNOWN_TOPIC_OR_PARTITION = 3
INVALID_FETCH_SIZE = 4
LEADER_NOT_AVAILABLE = 5
NOT_LEADER_OR_FOLLOWER = 6
REQUEST_TIMED_OUT = 7
BROKER_NOT_AVAILABLE = 8
REPLICA_NOT_AVAILABLE = 9
MESSAGE_TOO_LARGE = 10
STALE_CONTROLLER_EPOCH = 11
OFFSET_METADATA_TOO_LARGE = 12
NETWORK_EXCEPTION = 13
COORDINATOR_LOAD_IN_PROGRESS = 14
COORDINATOR_NOT_AVAILABLE = 15
NOT_COORDINATOR = 16
INVALID_TOPIC_EXCEPTION = 17
RECORD_LIST_TOO_LARGE = 18
NOT_ENOUGH_REPLICAS = 19
NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20
INVALID_REQUIRED_ACKS = 21
ILLEGAL_GENERATION = 22
INCONSISTENT_GROUP_PROTOCOL = 23
INVALID_GROUP_ID = 24
UNKNOWN_MEMBER_ID = 25
INVALID_SESSION_TIMEOUT = 26
REBALANCE_IN_PROGRESS = 27
INVALID_COMMIT_OFFSET_SIZE = 28
TOPIC_AUTHORIZATION_FAILED = 29
GROUP_AUTHORIZATION_FAILED = 30
CLUSTER_AUTHORIZATION_FAILED = 31
INVALID_TIMESTAMP = 32
UNSUPPORTED_SASL_MECHANISM = 33
ILLEGAL_SASL_STATE = 34
UNSUPPORTED_VERSION = 35
TOPIC_ALREADY_EXISTS = 36
INVALID_PARTITIONS = 37
INVALID_REPLICATION_FACTOR = 38
INVALID_REPLICA_ASSIGNMENT = 39
INVALID_CONFIG = 40
NOT_CONTROLLER = 41
INVALID_REQUEST = 42
UNSUPPORTED_FOR_MESSAGE_FORMAT = 43
POLICY_VIOLATION = 44
OUT_OF_ORDER_SEQUENCE_NUMBER = 45
DUPLICATE_SEQUENCE_NUMBER = 46
INVALID_PRODUCER_EPOCH = 47
INVALID_TXN_STATE = 48
INVALID_PRODUCER_ID_MAPPING = 49
INVALID_TRANSACTION_TIMEOUT = 50
CONCURRENT_TRANSACTIONS = 51
TRANSACTION_COORDINATOR_FENCED = 52
TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
SECURITY_DISABLED = 54
OPERATION_NOT_ATTEMPTED = 55
KAFKA_STORAGE_ERROR = 56
LOG_DIR_NOT_FOUND = 57
SASL_AUTHENTICATION_FAILED = 58
UNKNOWN_PRODUCER_ID = 59
REASSIGNMENT_IN_PROGRESS = 60
DELEGATION_TOKEN_AUTH_DISABLED = 61
DELEGATION_TOKEN_NOT_FOUND = 62
DELEGATION_TOKEN_OWNER_MISMATCH = 63
DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64
DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65
DELEGATION_TOKEN_EXPIRED = 66
INVALID_PRINCIPAL_TYPE = 67
NON_EMPTY_GROUP = 68
GROUP_ID_NOT_FOUND = 69
FETCH_SESSION_ID_NOT_FOUND = 70
INVALID_FETCH_SESSION_EPOCH = 71
LISTENER_NOT_FOUND = 72
TOPIC_DELETION_DISABLED = 73
FENCED_LEADER_EPOCH = 74
UNKNOWN_LEADER_EPOCH = 75
UNSUPPORTED_COMPRESSION_TYPE = 76
STALE_BROKER_EPOCH = 77
OFFSET_NOT_AVAILABLE = 78
MEMBER_ID_REQUIRED = 79
PREFERRED_LEADER_NOT_AVAILABLE = 80
GROUP_MAX_SIZE_REACHED = 81
FENCED_INSTANCE_ID = 82
ELIGIBLE_LEADERS_NOT_AVAILABLE = 83
ELECTION_NOT_NEEDED = 84
NO_REASSIGNMENT_IN_PROGRESS = 85
GROUP_SUBSCRIBED_TO_TOPIC = 86
INVALID_RECORD = 87
UNSTABLE_OFFSET_COMMIT = 88
THROTTLING_QUOTA_EXCEEDED = 89
PRODUCER_FENCED = 90
RESOURCE_NOT_FOUND = 91
DUPLICATE_RESOURCE = 92
UNACCEPTABLE_CREDENTIAL = 93
INCONSISTENT_VOTER_SET = 94
INVALID_UPDATE_VERSION = 95
FEATURE_UPDATE_FAILED = 96
PRINCIPAL_DESERIALIZATION_FAILURE = 97
SNAPSHOT_NOT_FOUND = 98
POSITION_OUT_OF_RANGE = 99
UNKNOWN_TOPIC_ID = 100
DUPLICATE_BROKER_REGISTRATION = 101
BROKER_ID_NOT_REGISTERED = 102
INCONSISTENT_TOPIC_ID = 103
INCONSISTENT_CLUSTER_ID = 104
TRANSACTIONAL_ID_NOT_FOUND = 105
FETCH_SESSION_TOPIC_ID_ERROR = 106
INELIGIBLE_REPLICA = 107
NEW_LEADER_ELECTED = 108
OFFSET_MOVED_TO_TIERED_STORAGE = 109
FENCED_MEMBER_EPOCH = 110
UNRELEASED_INSTANCE_ID = 111
UNSUPPORTED_ASSIGNOR = 112
STALE_MEMBER_EPOCH = 113
MISMATCHED_ENDPOINT_TYPE = 114
UNSUPPORTED_ENDPOINT_TYPE = 115
UNKNOWN_CONTROLLER_ID = 116
UNKNOWN_SUBSCRIPTION_ID = 117
TELEMETRY_TOO_LARGE = 118
INVALID_REGISTRATION = 119
TRANSACTION_ABORTABLE = 120
INVALID_RECORD_STATE = 121
SHARE_SESSION_NOT_FOUND = 122
INVALID_SHARE_SESSION_EPOCH = 123
FENCED_STATE_EPOCH = 124
INVALID_VOTER_KEY = 125
DUPLICATE_VOTER = 126
VOTER_NOT_FOUND = 127
INVALID_REGULAR_EXPRESSION = 128
REBOOTSTRAP_REQUIRED = 129
STREAMS_INVALID_TOPOLOGY = 130
STREAMS_INVALID_TOPOLOGY_EPOCH = 131
STREAMS_TOPOLOGY_FENCED = 132
SHARE_SESSION_LIMIT_REACHED = 133
GROUP_DELETION_FAILED = 134
STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED = 135
CONTROLLER_ID_NOT_REGISTERED = 136

MEANINGS = {
    UNKNOWN_SERVER_ERROR: "Something went wrong inside the server that has no code of its own.",
    NONE: "No error.",
    OFFSET_OUT_OF_RANGE: "The offset lies before the start or behind the end of the log.",
    CORRUPT_MESSAGE: "Records fail their checksum or break the format.",
    UNKNOWN_TOPIC_OR_PARTITION: "The topic or partition does not exist, or this broker does not know it.",
    INVALID_FETCH_SIZE: "The number of bytes to fetch is not valid.",
    LEADER_NOT_AVAILABLE: "The partition has no leader at the moment.",
    NOT_LEADER_OR_FOLLOWER: "This broker does not lead the partition, or holds no replica of it.",
    REQUEST_TIMED_OUT: "The server could not do it within the time that the request allows.",
    BROKER_NOT_AVAILABLE: "The broker is not there.",
    REPLICA_NOT_AVAILABLE: "This broker's replica of the partition cannot be used.",
    MESSAGE_TOO_LARGE: "A record batch exceeds what the topic or broker accepts.",
    STALE_CONTROLLER_EPOCH: "The request comes from a controller that has been replaced.",
    OFFSET_METADATA_TOO_LARGE: "The text beside a committed offset is too long.",
    NETWORK_EXCEPTION: "The connection broke before an answer came; never on the wire.",
    COORDINATOR_LOAD_IN_PROGRESS: "The coordinator still reads its log.",
    COORDINATOR_NOT_AVAILABLE: "There is no coordinator to talk to at the moment.",
    NOT_COORDINATOR: "Another broker coordinates this group or transactional id.",
    INVALID_TOPIC_EXCEPTION: "The topic's name is not allowed, or the topic may not be used so.",
    RECORD_LIST_TOO_LARGE: "A record batch is larger than a log segment.",
    NOT_ENOUGH_REPLICAS: "Too few replicas are in sync; nothing was written.",
    NOT_ENOUGH_REPLICAS_AFTER_APPEND: "The records were written, but too few replicas are in sync.",
    INVALID_REQUIRED_ACKS: "acks is none of 0, 1 and -1.",
    ILLEGAL_GENERATION: "The generation is not the group's current one.",
    INCONSISTENT_GROUP_PROTOCOL: "The member's protocols have nothing in common with the group's.",
    INVALID_GROUP_ID: "The group id is empty or otherwise not allowed.",
    UNKNOWN_MEMBER_ID: "The group has no such member.",
    INVALID_SESSION_TIMEOUT: "The session timeout is outside the bounds that the broker sets.",
    REBALANCE_IN_PROGRESS: "The group rebalances; the member must join again.",
    INVALID_COMMIT_OFFSET_SIZE: "The committed offset's record is too large to store.",
    TOPIC_AUTHORIZATION_FAILED: "The principal may not do this to the topic.",
    GROUP_AUTHORIZATION_FAILED: "The principal may not do this to the group.",
    CLUSTER_AUTHORIZATION_FAILED: "The principal may not do this to the cluster.",
    INVALID_TIMESTAMP: "A record's timestamp is too far off, or missing where it is needed.",
    UNSUPPORTED_SASL_MECHANISM: "The listener does not offer this SASL mechanism.",
    ILLEGAL_SASL_STATE: "The request comes at the wrong point of the SASL exchange.",
    UNSUPPORTED_VERSION: "The server does not serve this version of the API, or the feature behind it.",
    TOPIC_ALREADY_EXISTS: "There is a topic of that name, or of one that collides with it.",
    INVALID_PARTITIONS: "The number of partitions is not possible.",
    INVALID_REPLICATION_FACTOR: "The replication factor is below 1 or above the number of brokers.",
    INVALID_REPLICA_ASSIGNMENT: "The manual assignment of replicas makes no sense.",
    INVALID_CONFIG: "A configuration's name or value is not allowed.",
    NOT_CONTROLLER: "This node is not the active controller.",
    INVALID_REQUEST: "The request contradicts itself or the protocol.",
    UNSUPPORTED_FOR_MESSAGE_FORMAT: "The records' format is too old for the request.",
    POLICY_VIOLATION: "A policy of the cluster's operator forbids it.",
    OUT_OF_ORDER_SEQUENCE_NUMBER: "A producer's sequence number leaves a gap.",
    DUPLICATE_SEQUENCE_NUMBER: "A producer's batch was written before and is too old to confirm.",
    INVALID_PRODUCER_EPOCH: "The producer's epoch is older than the one known.",
    INVALID_TXN_STATE: "The transaction's state does not allow this step.",
    INVALID_PRODUCER_ID_MAPPING: "The transactional id belongs to another producer id.",
    INVALID_TRANSACTION_TIMEOUT: "The transaction timeout is above the broker's bound.",
    CONCURRENT_TRANSACTIONS: "The previous step of the transaction is not complete yet.",
    TRANSACTION_COORDINATOR_FENCED: "The marker comes from a transaction coordinator that has been replaced.",
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "The principal may not use the transactional id.",
    SECURITY_DISABLED: "The server runs without an authorizer.",
    OPERATION_NOT_ATTEMPTED: "Another part of the request failed first, so that this one was left alone.",
    KAFKA_STORAGE_ERROR: "The log directory of the partition failed.",
    LOG_DIR_NOT_FOUND: "The broker has no such log directory.",
    SASL_AUTHENTICATION_FAILED: "The credentials were not accepted.",
    UNKNOWN_PRODUCER_ID: "Nothing of this producer is left in the partition.",
    REASSIGNMENT_IN_PROGRESS: "The partition's replicas are being moved already.",
    DELEGATION_TOKEN_AUTH_DISABLED: "The server does not issue delegation tokens.",
    DELEGATION_TOKEN_NOT_FOUND: "There is no such delegation token.",
    DELEGATION_TOKEN_OWNER_MISMATCH: "The principal neither owns nor may renew the token.",
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED: "Tokens cannot be asked for over this kind of connection.",
    DELEGATION_TOKEN_AUTHORIZATION_FAILED: "The principal may not do this to the token.",
    DELEGATION_TOKEN_EXPIRED: "The token has run out.",
    INVALID_PRINCIPAL_TYPE: "This type of principal is not supported.",
    NON_EMPTY_GROUP: "The group still has members.",
    GROUP_ID_NOT_FOUND: "There is no such group.",
    FETCH_SESSION_ID_NOT_FOUND: "The broker does not know the fetch session any more.",
    INVALID_FETCH_SESSION_EPOCH: "The request is not the next one of its fetch session.",
    LISTENER_NOT_FOUND: "The leader has no listener of the name that the client used.",
    TOPIC_DELETION_DISABLED: "The cluster does not let topics be deleted.",
    FENCED_LEADER_EPOCH: "The client's leader epoch is older than the broker's.",
    UNKNOWN_LEADER_EPOCH: "The client's leader epoch is newer than the broker's.",
    UNSUPPORTED_COMPRESSION_TYPE: "The client's version of the API cannot carry this compression.",
    STALE_BROKER_EPOCH: "The broker has registered again since.",
    OFFSET_NOT_AVAILABLE: "A new leader does not know its high watermark yet.",
    MEMBER_ID_REQUIRED: "The member must join again with the id that it has just been given.",
    PREFERRED_LEADER_NOT_AVAILABLE: "The preferred leader is not alive or not in sync.",
    GROUP_MAX_SIZE_REACHED: "The group has as many members as it may have.",
    FENCED_INSTANCE_ID: "Another member has taken over the group instance id.",
    ELIGIBLE_LEADERS_NOT_AVAILABLE: "No replica could become the leader.",
    ELECTION_NOT_NEEDED: "The leader is already the one to elect.",
    NO_REASSIGNMENT_IN_PROGRESS: "There is no move of replicas to cancel.",
    GROUP_SUBSCRIBED_TO_TOPIC: "The group reads the topic, so that its offsets cannot be deleted.",
    INVALID_RECORD: "A record breaks a rule of its topic.",
    UNSTABLE_OFFSET_COMMIT: "An offset is part of a transaction that is still open.",
    THROTTLING_QUOTA_EXCEEDED: "The client has used up its quota of changes.",
    PRODUCER_FENCED: "A newer producer uses the transactional id.",
    RESOURCE_NOT_FOUND: "The request names something that does not exist.",
    DUPLICATE_RESOURCE: "The request names the same thing twice.",
    UNACCEPTABLE_CREDENTIAL: "The credential is too weak or too long, or has no user.",
    INCONSISTENT_VOTER_SET: "Sender or receiver is not among the quorum's voters.",
    INVALID_UPDATE_VERSION: "A feature cannot be set to this level.",
    FEATURE_UPDATE_FAILED: "The features could not be updated.",
    PRINCIPAL_DESERIALIZATION_FAILURE: "The principal inside a forwarded request cannot be read.",
    SNAPSHOT_NOT_FOUND: "There is no such snapshot of the metadata log.",
    POSITION_OUT_OF_RANGE: "The position lies outside the snapshot.",
    UNKNOWN_TOPIC_ID: "This broker knows no topic with the id.",
    DUPLICATE_BROKER_REGISTRATION: "Another live broker has this node id.",
    BROKER_ID_NOT_REGISTERED: "No broker is registered with this node id.",
    INCONSISTENT_TOPIC_ID: "The partition belongs to a topic with another id.",
    INCONSISTENT_CLUSTER_ID: "The request is meant for another cluster.",
    TRANSACTIONAL_ID_NOT_FOUND: "The coordinator does not know the transactional id.",
    FETCH_SESSION_TOPIC_ID_ERROR: "The fetch session mixes topic names and topic ids.",
    INELIGIBLE_REPLICA: "A replica that may not be in sync was put among those that are.",
    NEW_LEADER_ELECTED: "The change was made, and it made another broker the leader.",
    OFFSET_MOVED_TO_TIERED_STORAGE: "The offset is only in remote storage now.",
    FENCED_MEMBER_EPOCH: "The member's epoch is wrong: it must give up its partitions and join again.",
    UNRELEASED_INSTANCE_ID: "Another member still holds the group instance id.",
    UNSUPPORTED_ASSIGNOR: "The group cannot use this assignor.",
    STALE_MEMBER_EPOCH: "The member's epoch is behind: it must wait for its next heartbeat.",
    MISMATCHED_ENDPOINT_TYPE: "A controller was asked for brokers, or the other way round.",
    UNSUPPORTED_ENDPOINT_TYPE: "The server does not know this type of endpoint.",
    UNKNOWN_CONTROLLER_ID: "There is no such controller.",
    UNKNOWN_SUBSCRIPTION_ID: "The client's telemetry subscription is out of date.",
    TELEMETRY_TOO_LARGE: "The pushed telemetry is larger than the broker takes.",
    INVALID_REGISTRATION: "The controller refuses how the broker registers.",
    TRANSACTION_ABORTABLE: "The transaction has failed and can only be aborted.",
    INVALID_RECORD_STATE: "The record's delivery state does not allow this acknowledgement.",
    SHARE_SESSION_NOT_FOUND: "The broker does not know the share session any more.",
    INVALID_SHARE_SESSION_EPOCH: "The request is not the next one of its share session.",
    FENCED_STATE_EPOCH: "The share partition's state epoch is older than the one known.",
    INVALID_VOTER_KEY: "The voter's id and directory are not those of the receiver.",
    DUPLICATE_VOTER: "The voter belongs to the quorum already.",
    VOTER_NOT_FOUND: "The quorum has no such voter.",
    INVALID_REGULAR_EXPRESSION: "The regular expression of the subscription cannot be compiled.",
    REBOOTSTRAP_REQUIRED: "The client must forget what it knows and start from its bootstrap servers.",
    STREAMS_INVALID_TOPOLOGY: "The topology contradicts itself.",
    STREAMS_INVALID_TOPOLOGY_EPOCH: "The topology's epoch is not possible.",
    STREAMS_TOPOLOGY_FENCED: "The topology's epoch is behind the group's.",
    SHARE_SESSION_LIMIT_REACHED: "The broker has as many share sessions as it may have.",
    GROUP_DELETION_FAILED: "The group could not be deleted; the text beside the code says why.",
    STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED: "The description of the topology could not be stored; the text beside the code says why.",
    CONTROLLER_ID_NOT_REGISTERED: "No controller is registered with this node id.",
}
"""The meaning of each error code for a client, in our words."""

RETRIABLE = frozenset(
    {
        CORRUPT_MESSAGE,
        UNKNOWN_TOPIC_OR_PARTITION,
        LEADER_NOT_AVAILABLE,
        NOT_LEADER_OR_FOLLOWER,
        REQUEST_TIMED_OUT,
        REPLICA_NOT_AVAILABLE,
        NETWORK_EXCEPTION,
        COORDINATOR_LOAD_IN_PROGRESS,
        COORDINATOR_NOT_AVAILABLE,
        NOT_COORDINATOR,
        NOT_ENOUGH_REPLICAS,
        NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        NOT_CONTROLLER,
        CONCURRENT_TRANSACTIONS,
        KAFKA_STORAGE_ERROR,
        FETCH_SESSION_ID_NOT_FOUND,
        INVALID_FETCH_SESSION_EPOCH,
        LISTENER_NOT_FOUND,
        FENCED_LEADER_EPOCH,
        UNKNOWN_LEADER_EPOCH,
        OFFSET_NOT_AVAILABLE,
        PREFERRED_LEADER_NOT_AVAILABLE,
        ELIGIBLE_LEADERS_NOT_AVAILABLE,
        ELECTION_NOT_NEEDED,
        UNSTABLE_OFFSET_COMMIT,
        THROTTLING_QUOTA_EXCEEDED,
        UNKNOWN_TOPIC_ID,
        INCONSISTENT_TOPIC_ID,
        FETCH_SESSION_TOPIC_ID_ERROR,
        SHARE_SESSION_NOT_FOUND,
        INVALID_SHARE_SESSION_EPOCH,
        SHARE_SESSION_LIMIT_REACHED,
    }
)
"""Codes after which the same request may succeed later."""

REFRESH = frozenset(
    {
        UNKNOWN_TOPIC_OR_PARTITION,
        LEADER_NOT_AVAILABLE,
        NOT_LEADER_OR_FOLLOWER,
        REPLICA_NOT_AVAILABLE,
        NETWORK_EXCEPTION,
        KAFKA_STORAGE_ERROR,
        LISTENER_NOT_FOUND,
        FENCED_LEADER_EPOCH,
        PREFERRED_LEADER_NOT_AVAILABLE,
        ELIGIBLE_LEADERS_NOT_AVAILABLE,
        ELECTION_NOT_NEEDED,
        UNKNOWN_TOPIC_ID,
        INCONSISTENT_TOPIC_ID,
    }
)
"""Codes after which a client refreshes its metadata."""

NAMES = {value: name for name, value in list(globals().items()) if name.isupper() and type(value) is int}
"""Every code with its name, by rising code."""


def name(code: int) -> str:
    """The name of a code; `UNKNOWN_CODE_999` for an unknown one."""
    return NAMES.get(code, f"UNKNOWN_CODE_{code}")


def is_retriable(code: int) -> bool:
    """Whether the same request may succeed later. An unknown code is not retriable, like
    UNKNOWN_SERVER_ERROR."""
    return code in RETRIABLE


def meaning(code: int) -> str:
    """The meaning of an error code, or a text that it is unknown."""
    return MEANINGS.get(code, "A code that this version of Kafka does not have.")


def is_known(code: int) -> bool:
    return code in NAMES
