"""The words of parameters that take only some, as types: a type checker finds any other one."""

from __future__ import annotations

from typing import Literal, TypeAlias

SecureProtocol: TypeAlias = Literal["SSL", "SASL_PLAINTEXT", "SASL_SSL"]
"""Of all listeners of a double."""

ListenerProtocol: TypeAlias = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
"""Of one listener."""

CertificateKind: TypeAlias = Literal["valid", "expired", "self-signed", "wrong-host"]

TokenKind: TypeAlias = Literal["unsecured", "signed", "any"]
"""Of bearer tokens."""

IsolationLevel: TypeAlias = Literal["read_uncommitted", "read_committed"]

RecordFormat: TypeAlias = Literal["json", "text"]

ClientLibrary: TypeAlias = Literal[
    "confluent-kafka", "kafka-python", "aiokafka", "java", "franz-go", "kafkajs", "generic"
]

GroupStateName: TypeAlias = Literal[
    "PreparingRebalance",
    "CompletingRebalance",
    "Stable",
    "Dead",
    "Empty",
    "Assigning",
    "Reconciling",
    "NotReady",
]

TransactionStateName: TypeAlias = Literal[
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence"
]
