"""What a fault rule can do, as values: for `Rule(Match(...), action)`, and for the functions of
`KafkaDouble.on`."""

from kafkadouble.server.faults.actions import (
    Call,
    ChangeField,
    CorruptRecords,
    CutFrame,
    Delay,
    Disconnect,
    DropAnswer,
    Fail,
    Ignore,
    OversizedFrame,
    Pause,
    Respond,
    ShortFrame,
    SlowFrame,
    StaleMetadata,
    Throttle,
    WrongCorrelationId,
)

__all__ = [
    "Call",
    "ChangeField",
    "CorruptRecords",
    "CutFrame",
    "Delay",
    "Disconnect",
    "DropAnswer",
    "Fail",
    "Ignore",
    "OversizedFrame",
    "Pause",
    "Respond",
    "ShortFrame",
    "SlowFrame",
    "StaleMetadata",
    "Throttle",
    "WrongCorrelationId",
]
