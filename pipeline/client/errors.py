"""What can go wrong for a caller of the client: one family, each message one sentence that names broker, topic or partition.

Rules. Every kind keeps what it was made of in `args`, so that it goes from process to process by pickle. A broker's codes that no kind stands
for come as `ApiError`. `ConnectionLost` never leaves the client.
"""

from __future__ import annotations

from kafkadouble.messages import error_codes

from .names import OffsetAndEpoch, TopicPartition


class ClientError(Exception):
    """Whatever the client could not do."""


class NotReachable(ClientError):
    """No broker of the cluster could be talked to."""


class NotAuthenticated(ClientError):
    """The broker does not accept who this is, or cannot prove who it is itself (SASL, TLS)."""


class NotAuthorized(ClientError):
    """The broker knows who this is, and says that it may not."""


class Unsupported(ClientError):
    """The broker serves no version of a request that would do."""


class BadAnswer(ClientError):
    """What came from a broker is no answer to what it was asked."""


class TimedOut(ClientError):
    """It did not succeed within its time; the sentence ends with the last trouble."""


class NoLeader(TimedOut):
    """Nobody led the partition for the whole time."""


class NoSuchTopic(ClientError):
    """The cluster has no such topic. `topic` is its name; `partition` is None when all partitions are missing."""

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
    """The topic was deleted, and another one has its name now: its offsets mean nothing any more."""


class ApiError(ClientError):
    """A broker said no. `code` is Kafka's number, `error` its name."""

    def __init__(self, what: str, code: int, message: str | None = None) -> None:
        super().__init__(what, code, message)
        self.code, self.error = code, error_codes.name(code)

    def __str__(self) -> str:
        what, code, message = self.args
        return f"{what}: {error_codes.name(code)}: {message or error_codes.meaning(code)}"


class OffsetOutOfRange(ClientError):
    """The partition has no such offset: it was deleted, or never written. Offsets that are not known are -1."""

    def __init__(self, partition: TopicPartition, asked: int, log_start_offset: int, end: int) -> None:
        super().__init__(partition, asked, log_start_offset, end)
        self.partition, self.asked, self.log_start_offset, self.end = partition, asked, log_start_offset, end

    def __str__(self) -> str:
        known = f"from {self.log_start_offset} to {self.end}" if self.end >= 0 else "other ones"
        return f"{self.partition} has no offset {self.asked}: it has offsets {known}"


class LogTruncated(ClientError):
    """The log was truncated since it was read: `end` is up to where what was read is still there (KIP-320)."""

    def __init__(self, partition: TopicPartition, asked: OffsetAndEpoch, end: OffsetAndEpoch) -> None:
        super().__init__(partition, asked, end)
        self.partition, self.asked, self.end = partition, asked, end

    def __str__(self) -> str:
        return (
            f"{self.partition} was truncated: what was read up to {self.asked} is there only up to {self.end}; "
            "what was read beyond that is lost"
        )


class ConnectionLost(Exception):
    """A connection is of no use any more; another attempt may go well. Its text says where and why."""


class NoSuchHost(ConnectionLost):
    """There is no address to connect with."""


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
    """The error that a code stands for; `what` begins its sentence."""
    if code in AUTHORIZATION:
        return NotAuthorized(f"{what}: {error_codes.name(code)}: {message or error_codes.meaning(code)}")
    if code in AUTHENTICATION:
        return NotAuthenticated(f"{what}: {error_codes.name(code)}: {message or error_codes.meaning(code)}")
    return ApiError(what, code, message)
