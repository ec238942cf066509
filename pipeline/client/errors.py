"""The errors of the client: one family, with messages of one sentence that names broker, topic or
partition.

Rules. Every kind keeps its arguments in `args`, so that it can be pickled between processes. A
broker's error codes without a kind of their own become `ApiError`. `ConnectionLost` never leaves
the client.
"""

from __future__ import annotations

from kafkadouble.messages import error_codes

from .names import OffsetAndEpoch, TopicPartition


class ClientError(Exception):
    """The base class of all errors of the client."""


class NotReachable(ClientError):
    """No broker of the cluster could be reached."""


class NotAuthenticated(ClientError):
    """The authentication of the client or of the broker failed (SASL, TLS)."""


class NotAuthorized(ClientError):
    """The client is authenticated, but does not have the right."""


class Unsupported(ClientError):
    """The broker has no version of an API that the client can use."""


class BadAnswer(ClientError):
    """The bytes from a broker are no response to the request."""


class TimedOut(ClientError):
    """A call did not succeed within its time; the sentence ends with the last error."""


class NoLeader(TimedOut):
    """The partition had no leader for the whole time."""


class NoSuchTopic(ClientError):
    """The cluster has no such topic. `topic` is its name; `partition` is None when all partitions
    are missing."""

    def __init__(self, what: str, topic: str = "", partition: int | None = None) -> None:
        super().__init__(what, topic, partition)
        self.topic, self.partition = topic, partition

    def __str__(self) -> str:
        return str(self.args[0])

    def concerns(self, partition: TopicPartition) -> bool:
        """Whether this partition is missing, too."""
        return partition.topic == self.topic and self.partition in (None, partition.partition)


class NoSuchPartition(NoSuchTopic):
    """The topic has no such partition."""


class TopicRecreated(NoSuchTopic):
    """The topic was deleted and recreated: offsets of the old one are invalid."""


class ApiError(ClientError):
    """A broker returned an error code. `code` is Kafka's number, `error` its name."""

    def __init__(self, what: str, code: int, message: str | None = None) -> None:
        super().__init__(what, code, message)
        self.code, self.error = code, error_codes.name(code)

    def __str__(self) -> str:
        what, code, message = self.args
        return f"{what}: {error_codes.name(code)}: {message or error_codes.meaning(code)}"


class OffsetOutOfRange(ClientError):
    """The partition does not have the offset: it was deleted, or never written. Unknown offsets are
    -1."""

    def __init__(self, partition: TopicPartition, offset: int, log_start_offset: int, end: int) -> None:
        super().__init__(partition, offset, log_start_offset, end)
        self.partition, self.offset, self.log_start_offset, self.end = partition, offset, log_start_offset, end

    def __str__(self) -> str:
        known = f"from {self.log_start_offset} to {self.end}" if self.end >= 0 else "other ones"
        return f"{self.partition} has no offset {self.offset}: it has offsets {known}"


class LogTruncated(ClientError):
    """The log was truncated since it was read: records that were read are still there up to `end`
    (KIP-320)."""

    def __init__(self, partition: TopicPartition, read: OffsetAndEpoch, end: OffsetAndEpoch) -> None:
        super().__init__(partition, read, end)
        self.partition, self.read, self.end = partition, read, end

    def __str__(self) -> str:
        return (
            f"{self.partition} was truncated: what was read up to {self.read} is there only up to {self.end}; "
            "what was read beyond that is lost"
        )


class ConnectionLost(Exception):
    """A connection failed; another attempt may succeed. The text says where and why."""


class NoSuchHost(ConnectionLost):
    """The host name has no address."""


AUTHENTICATION = frozenset(
    {
        error_codes.SASL_AUTHENTICATION_FAILED,
        error_codes.UNSUPPORTED_SASL_MECHANISM,
        error_codes.ILLEGAL_SASL_STATE,
    }
)
AUTHORIZATION = frozenset(
    {
        error_codes.TOPIC_AUTHORIZATION_FAILED,
        error_codes.GROUP_AUTHORIZATION_FAILED,
        error_codes.CLUSTER_AUTHORIZATION_FAILED,
        error_codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    }
)


def refusal(what: str, code: int, message: str | None = None) -> ClientError:
    """The error for a code; its sentence begins with `what`."""
    if code in AUTHORIZATION:
        return NotAuthorized(f"{what}: {error_codes.name(code)}: {message or error_codes.meaning(code)}")
    if code in AUTHENTICATION:
        return NotAuthenticated(f"{what}: {error_codes.name(code)}: {message or error_codes.meaning(code)}")
    return ApiError(what, code, message)
