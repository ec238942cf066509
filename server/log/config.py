"""The topic settings that a log obeys, as plain attributes; names, defaults and meaning are Kafka's (TopicConfig, LogConfig of 4.4), but for
`produce.expected.offset`.

Values come typed and checked: what a setting accepts is decided where settings are set, not here. A setting that a log does not look at
is not kept.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kafkadouble.wire.batch_header import APPEND_TIME, CREATE_TIME
from kafkadouble.wire.compression import codec_id

from .expected_offset import OFF

Value = int | float | str | list[str] | tuple[str, ...]

_DAY = 86_400_000
UNBOUNDED = 2**63 - 1
UNLIMITED = 2**31 - 9  # the length of the largest array that Java makes


class Setting(NamedTuple):
    """One row: the attribute that holds the value, and Kafka's default."""

    attribute: str
    default: Value | None


SETTINGS = {
    "cleanup.policy": Setting("cleanup_policy", "delete"),
    "compression.gzip.level": Setting("gzip_level", -1),
    "compression.lz4.level": Setting("lz4_level", 9),
    "compression.type": Setting("compression_type", "producer"),
    "compression.zstd.level": Setting("zstd_level", 3),
    "delete.retention.ms": Setting("delete_retention_ms", _DAY),
    "file.delete.delay.ms": Setting("file_delete_delay_ms", 60_000),
    "flush.messages": Setting("flush_messages", UNBOUNDED),
    "flush.ms": Setting("flush_ms", UNBOUNDED),
    "index.interval.bytes": Setting("index_interval_bytes", 4096),
    "internal.segment.bytes": Setting("internal_segment_bytes", None),
    "max.compaction.lag.ms": Setting("max_compaction_lag_ms", UNBOUNDED),
    "max.decompressed.message.bytes": Setting("max_decompressed_message_bytes", UNLIMITED),
    "max.message.bytes": Setting("max_message_bytes", 1_048_588),
    "message.timestamp.after.max.ms": Setting("timestamp_after_max_ms", 3_600_000),
    "message.timestamp.before.max.ms": Setting("timestamp_before_max_ms", UNBOUNDED),
    "message.timestamp.type": Setting("message_timestamp_type", "CreateTime"),
    "min.compaction.lag.ms": Setting("min_compaction_lag_ms", 0),
    "min.cleanable.dirty.ratio": Setting("min_cleanable_dirty_ratio", 0.5),
    "min.insync.replicas": Setting("min_insync_replicas", 1),
    "produce.expected.offset": Setting("expected_offset", OFF),  # ours alone (KIP-27)
    "retention.bytes": Setting("retention_bytes", -1),
    "retention.ms": Setting("retention_ms", 7 * _DAY),
    "segment.bytes": Setting("segment_bytes", 1_073_741_824),
    "segment.index.bytes": Setting("segment_index_bytes", 10_485_760),
    "segment.jitter.ms": Setting("segment_jitter_ms", 0),
    "segment.ms": Setting("segment_ms", 7 * _DAY),
}
"""Every setting that a log obeys."""

_LEVELS = {"gzip": "gzip_level", "lz4": "lz4_level", "zstd": "zstd_level"}
_TIMESTAMP_TYPES = {"CreateTime": CREATE_TIME, "LogAppendTime": APPEND_TIME}
_SAME_CODEC = {"producer": None, "uncompressed": 0}


class LogConfig:
    """One topic's settings, fixed: a change makes a new one. What follows from several of them is worked out once, here."""

    __slots__ = (
        *(setting.attribute for setting in SETTINGS.values()),
        "compacts",  # cleanup.policy has compact
        "conditional",  # produce.expected.offset is on: producers may say, or must, where a batch belongs
        "deletes",  # cleanup.policy has delete
        "keeps_plain",  # an uncompressed batch of a producer's own timestamps is stored as it came, whatever its keys
        "max_segment_ms",  # segment.ms, but on a compacted topic never more than max.compaction.lag.ms (KIP-354)
        "target_codec",  # the codec that batches are stored with; None: the producer's own
        "target_level",  # of that codec; None where it has none
        "timestamp_type",  # CREATE_TIME or APPEND_TIME
    )

    cleanup_policy: tuple[str, ...]
    compression_type: str
    delete_retention_ms: int
    file_delete_delay_ms: int
    expected_offset: str
    flush_messages: int
    flush_ms: int
    gzip_level: int
    index_interval_bytes: int
    internal_segment_bytes: int | None
    lz4_level: int
    max_compaction_lag_ms: int
    max_decompressed_message_bytes: int
    max_message_bytes: int
    message_timestamp_type: str
    min_cleanable_dirty_ratio: float
    min_compaction_lag_ms: int
    min_insync_replicas: int
    retention_bytes: int
    retention_ms: int
    segment_bytes: int
    segment_index_bytes: int
    segment_jitter_ms: int
    segment_ms: int
    timestamp_after_max_ms: int
    timestamp_before_max_ms: int
    zstd_level: int

    compacts: bool
    conditional: bool
    deletes: bool
    keeps_plain: bool
    max_segment_ms: int
    target_codec: int | None
    target_level: int | None
    timestamp_type: int

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        given = settings or {}
        for name, setting in SETTINGS.items():
            setattr(self, setting.attribute, given.get(name, setting.default))
        self._work_out()

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "LogConfig":
        """From Kafka's names to typed values; what is missing has its default, names that no log obeys are passed over."""
        return cls(settings)

    def _work_out(self) -> None:
        self.cleanup_policy = _words(self.cleanup_policy)
        self.compacts, self.deletes = "compact" in self.cleanup_policy, "delete" in self.cleanup_policy
        self.max_segment_ms = min(self.segment_ms, self.max_compaction_lag_ms) if self.compacts else self.segment_ms
        if self.internal_segment_bytes is not None:  # segment.bytes without its lower bound
            self.segment_bytes = self.internal_segment_bytes
        self.conditional = self.expected_offset != OFF
        name = self.compression_type
        self.target_codec = _SAME_CODEC[name] if name in _SAME_CODEC else codec_id(name)
        self.target_level = getattr(self, _LEVELS[name]) if name in _LEVELS else None
        self.timestamp_type = _TIMESTAMP_TYPES[self.message_timestamp_type]
        self.keeps_plain = self.timestamp_type == CREATE_TIME and not self.target_codec and not self.compacts

    def __repr__(self) -> str:
        changed = ", ".join(
            f"{name}={getattr(self, setting.attribute)}"
            for name, setting in SETTINGS.items()
            if name != "cleanup.policy" and getattr(self, setting.attribute) != setting.default
        )
        return f"LogConfig({','.join(self.cleanup_policy) or 'kept for ever'}{', ' + changed if changed else ''})"


def _words(policies: str | Sequence[str]) -> tuple[str, ...]:
    words = policies.split(",") if isinstance(policies, str) else policies
    return tuple(word.strip().lower() for word in words if word.strip())
