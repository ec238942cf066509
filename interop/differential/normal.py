"""The declared normalisation: values that may differ between the two brokers, and lists without an
order.

Everything else is compared as it was answered, including the texts of errors. A name is replaced by
its order of appearance in a script (`member 1`), also inside texts, so both sides must mean the
same one.
"""

from __future__ import annotations

import re
import time
from typing import Any

DAY = 86_400_000

IDS = {
    "topicId": "topic",
    "memberId": "member",
    "leader": "member",
    "clusterId": "cluster",
    "clientInstanceId": "client instance",
}
"""Fields with ids that a broker generates."""

NUMBERS = {"producerId": "producer", "sessionId": "session", "brokerEpoch": "broker epoch"}
"""Fields with numeric ids; 0 and below mean that there is none."""

PORTS = {"port"}

METADATA_OFFSETS = {"finalizedFeaturesEpoch"}
"""Fields that are an offset of the metadata log: each broker decides how many records a change
takes."""

OF_A_QUORUM = {"highWatermark", "logEndOffset"}
"""Fields that are offsets too, in the description of the quorum and its replicas."""

TIMES = {
    "logAppendTimeMs",
    "timestamp",
    "lastTimestamp",
    "lastFetchTimestamp",
    "lastCaughtUpTimestamp",
    "transactionStartTimeMs",
}
"""Fields that count as the current time if they are within a day of it. A time that a request named
is compared as it is."""

THROTTLES = {"throttleTimeMs"}
"""Fields with a throttle time, which depends on when a request comes: it counts whether there is
one."""

UNORDERED = {
    "apiKeys": ("apiKey",),
    "supportedFeatures": ("name",),
    "finalizedFeatures": ("name",),
    "configs": ("name", "configName"),
    "configResources": ("resourceType", "resourceName"),
    "groups": ("groupId",),
    "members": ("memberId", "groupInstanceId"),
    "topics": ("name", "topic", "topicId"),
    "responses": ("name", "topicId", "topic", "resourceType", "resourceName"),
    "results": ("name", "topicName", "logDir", "groupId", "resourceType", "resourceName", "user", "feature"),
    "partitions": ("partitionIndex", "partition"),
    "activeProducers": ("producerId",),
    "observers": ("replicaId",),
    "partitionResponses": ("index",),
    "transactionStates": ("transactionalId",),
    "resultsByTransaction": ("transactionalId",),
    "topicResults": ("name",),
    "resultsByTopicV3AndBelow": ("name",),
    "resultsByPartition": ("partitionIndex",),
    "markers": ("producerId",),
    "activeTasks": ("subtopologyId",),
    "standbyTasks": ("subtopologyId",),
    "warmupTasks": ("subtopologyId",),
    "activePartitions": ("topic",),
    "standbyPartitions": ("topic",),
    "clientTags": ("key",),
    "topicConfigs": ("key",),
    "credentialInfos": ("mechanism",),
    "topicPartitions": ("topicName", "topicId"),
    "entries": ("entity",),
    "entity": ("entityType",),
    "values": ("key",),
    "resources": ("resourceType", "resourceName", "patternType"),
    "acls": ("principal", "host", "operation", "permissionType"),
    "matchingAcls": (
        "resourceType",
        "resourceName",
        "patternType",
        "principal",
        "host",
        "operation",
        "permissionType",
    ),
}
"""Lists that Kafka fills from maps, and the fields that are the key of their elements."""

SETS = {"unknownStateFilters", "partitions", "subscribedTopicNames"}
"""Lists of plain values without an order."""

OF_THE_MACHINE = {
    "advertised.listeners",
    "listeners",
    "log.dirs",
    "log.dir",
    "metadata.log.dir",
    "controller.quorum.voters",
}
"""Configurations whose values are paths or addresses of this machine."""

MADE_UP = re.compile(r"\A(?:[\w.-]*-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[\w-]{22})\Z")
NO_ID = "A" * 22
CHOSEN = "A" * 18
"""What ids begin with that a script chooses: they are compared as they are."""

OF_THE_DISK = {"totalBytes", "usableBytes"}
"""Fields about this machine's disks, unless their value means unknown."""


class Normal:
    """The names that one broker answered in one script."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._numbers: dict[tuple[str, int], str] = {}

    def of(self, value: Any, field: str = "") -> Any:
        """An answer, or part of one, reduced to what must be the same on both sides."""
        if isinstance(value, dict):
            return self._dict(value)
        if isinstance(value, list):
            if field == "transactionStates":
                # Every script sees the ids of all: they get their numbers in one order.
                value = sorted(value, key=lambda each: str(each["transactionalId"]))
            made = [self.of(each, field) for each in value]
            return sorted(made) if field in SETS and not any(isinstance(each, dict) for each in made) else made
        if isinstance(value, str):
            return self._text(value, field)
        if isinstance(value, int) and not isinstance(value, bool):
            return self._number(value, field)
        return value

    def _dict(self, value: dict[str, Any]) -> dict[str, Any]:
        if (name := value.get("name") or value.get("topic")) and (made_up := value.get("topicId", NO_ID)) != NO_ID:
            self._names.setdefault(made_up, f"id of {name}")
        if (replica_id := value.get("replicaId")) is not None and value.get("replicaDirectoryId", NO_ID) != NO_ID:
            self._names.setdefault(value["replicaDirectoryId"], f"directory of {replica_id}")
        made = {name: self.of(each, name) for name, each in value.items()}
        made |= {
            name: "offset" for name in OF_A_QUORUM if "replicaId" in value or "currentVoters" in value if name in value
        }
        if "subscriptionId" in value and not value["clientInstanceId"].startswith(CHOSEN):
            made["subscriptionId"] = f"subscription of {made['clientInstanceId']}"
        if value.get("name") in OF_THE_MACHINE and "value" in value:
            made["value"] = "of the machine"
        if "logDir" in value:
            made["logDir"] = "of the machine"
        return made

    def _text(self, value: str, field: str) -> str:
        if field in IDS and MADE_UP.match(value) and not value.startswith(CHOSEN) and value not in self._names:
            kind = IDS[field]
            self._names[value] = f"{kind} {1 + sum(name.startswith(kind) for name in self._names.values())}"
        for made_up, name in self._names.items():
            value = value.replace(made_up, name)
        return value

    def _number(self, value: int, field: str) -> int | str:
        if field in PORTS and value > 0:
            return "port"
        if field in OF_THE_DISK and value > 0:
            return "bytes"
        if field in METADATA_OFFSETS and value > 0:
            return "offset"
        if field in THROTTLES and value > 0:
            return "throttled"
        if field in TIMES and abs(value - time.time() * 1000) < DAY:
            return "now"
        if field in NUMBERS and value > 0:
            return self._numbers.setdefault((field, value), f"{NUMBERS[field]} {len(self._numbers) + 1}")
        return value
