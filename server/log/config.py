"""The topic configs that a log obeys, as plain attributes (Kafka's LogConfig).

Rules. The attribute of `segment.bytes` is `segment_bytes`, and so on for every config. Defaults are
those of the tables in `configs`. Values come typed and checked: what a config accepts is decided
where it is set, not here. A config that a log does not read is not kept.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from kafkadouble.wire.batch_header import APPEND_TIME, CREATE_TIME
from kafkadouble.wire.compression import codec_id

from ..configs.own import TOPIC_HERE

OFF, OPTIONAL, REQUIRED = "off", "optional", "required"
"""The values of `produce.expected.offset`."""

UNBOUNDED = 2**63 - 1
UNLIMITED = 2**31 - 9  # the length of the largest array that Java makes

_NAMES = (
    "cleanup.policy",
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.type",
    "compression.zstd.level",
    "delete.retention.ms",
    "file.delete.delay.ms",
    "flush.messages",
    "flush.ms",
    "index.interval.bytes",
    "internal.segment.bytes",
    "max.compaction.lag.ms",
    "max.decompressed.message.bytes",
    "max.message.bytes",
    "message.timestamp.after.max.ms",
    "message.timestamp.before.max.ms",
    "message.timestamp.type",
    "min.cleanable.dirty.ratio",
    "min.compaction.lag.ms",
    "min.insync.replicas",
    "preallocate",
    "produce.expected.offset",
    "retention.bytes",
    "retention.ms",
    "segment.bytes",
    "segment.index.bytes",
    "segment.jitter.ms",
    "segment.ms",
)

CONFIGS = {name: name.replace(".", "_") for name in _NAMES}
"""Every config that a log obeys, and its attribute."""

_TIMESTAMP_TYPES = {"CreateTime": CREATE_TIME, "LogAppendTime": APPEND_TIME}
_SAME_CODEC = {"producer": None, "uncompressed": 0}
_WITH_LEVEL = ("gzip", "lz4", "zstd")


@cache
def _defaults() -> Mapping[str, Any]:
    return {name: TOPIC_HERE[name].default_value() for name in CONFIGS}


class LogConfig:
    """The configs of one topic. It never changes: an altered topic gets another one. Values that
    depend on several configs are computed once."""

    __slots__ = (
        *CONFIGS.values(),
        "compacts",
        "conditional",
        "deletes",
        "keeps_plain",
        "max_segment_ms",
        "target_codec",
        "target_level",
        "timestamp_type",
    )

    cleanup_policy: tuple[str, ...]
    compression_gzip_level: int
    compression_lz4_level: int
    compression_type: str
    compression_zstd_level: int
    delete_retention_ms: int
    file_delete_delay_ms: int
    flush_messages: int
    flush_ms: int
    index_interval_bytes: int
    internal_segment_bytes: int | None
    max_compaction_lag_ms: int
    max_decompressed_message_bytes: int
    max_message_bytes: int
    message_timestamp_after_max_ms: int
    message_timestamp_before_max_ms: int
    message_timestamp_type: str
    min_cleanable_dirty_ratio: float
    min_compaction_lag_ms: int
    min_insync_replicas: int
    preallocate: bool
    produce_expected_offset: str
    retention_bytes: int
    retention_ms: int
    segment_bytes: int
    segment_index_bytes: int
    segment_jitter_ms: int
    segment_ms: int

    compacts: bool
    """`cleanup.policy` has compact."""
    conditional: bool
    """`produce.expected.offset` is on: a producer may say, or must, at which offset a batch
    belongs."""
    deletes: bool
    """`cleanup.policy` has delete."""
    keeps_plain: bool
    """An uncompressed batch with its producer's timestamps is stored as it came, whatever its keys
    are."""
    max_segment_ms: int
    """`segment.ms`, but on a compacted topic never more than `max.compaction.lag.ms` (KIP-354)."""
    target_codec: int | None
    """The codec that batches are stored with; None for that of the producer."""
    target_level: int | None
    """The level of that codec; None for a codec that has no levels."""
    timestamp_type: int
    """CREATE_TIME or APPEND_TIME."""

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        given, defaults = settings or {}, _defaults()
        for name, attribute in CONFIGS.items():
            setattr(self, attribute, given[name] if name in given else defaults[name])
        self._work_out()

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "LogConfig":
        """Reads typed values by Kafka's names. A missing config has its default; a config that no
        log obeys is ignored."""
        return cls(settings)

    def _work_out(self) -> None:
        self.cleanup_policy = _words(self.cleanup_policy)
        self.compacts, self.deletes = "compact" in self.cleanup_policy, "delete" in self.cleanup_policy
        self.max_segment_ms = min(self.segment_ms, self.max_compaction_lag_ms) if self.compacts else self.segment_ms
        if self.internal_segment_bytes is not None:  # segment.bytes without its lower bound
            self.segment_bytes = self.internal_segment_bytes
        self.conditional = self.produce_expected_offset != OFF
        name = self.compression_type
        self.target_codec = _SAME_CODEC[name] if name in _SAME_CODEC else codec_id(name)
        self.target_level = getattr(self, f"compression_{name}_level") if name in _WITH_LEVEL else None
        self.timestamp_type = _TIMESTAMP_TYPES[self.message_timestamp_type]
        self.keeps_plain = self.timestamp_type == CREATE_TIME and not self.target_codec and not self.compacts

    def __repr__(self) -> str:
        changed = ", ".join(
            f"{name}={getattr(self, CONFIGS[name])}"
            for name, default in _defaults().items()
            if name != "cleanup.policy" and getattr(self, CONFIGS[name]) != default
        )
        return f"LogConfig({','.join(self.cleanup_policy) or 'kept for ever'}{', ' + changed if changed else ''})"


def _words(policies: str | Sequence[str]) -> tuple[str, ...]:
    words = policies.split(",") if isinstance(policies, str) else policies
    return tuple(word.strip().lower() for word in words if word.strip())
