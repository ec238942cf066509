"""All facts of each API that is served, in the order of the keys: one row of text per API.

    CreateTopics  forwarded  CREATE cluster  CREATE topic  both  config values  right_or_parts
        topic:topics/topics

The first line has, two spaces apart, the name; `forwarded` or `local`; the right; the right to
each part; the guard; the secrets; and then the facts that differ from their default, by name. The
indented lines are paths to the parts, and facts that are sentences. `row` says what each fact
means.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .row import ApiRow

TEXT = """
Produce  local  none  WRITE topic  both  none  advertised_from=0
    topic:topic_data/responses partition:partition_data/partition_responses
    reason=librdkafka before 2.8 takes a broker that does not list version 0 for one that cannot compress (KAFKA-18659)
Fetch  local  none  READ topic  handler  none  controller_right=CLUSTER_ACTION cluster  controller_module=quorum
    topic:topics/responses partition:partitions/partitions
ListOffsets  local  none  DESCRIBE topic  row  none
    topic:topics/topics partition:partitions/partitions
Metadata  local  none  DESCRIBE topic  handler  none
    topic:topics/topics
OffsetCommit  local  READ group  READ topic  row  none  refused_parts=first
    topic:topics/topics partition:partitions/partitions
OffsetFetch  local  DESCRIBE group  DESCRIBE topic  handler  none
    topic:topics/topics partition:partition_indexes/partitions
    group:groups/groups topic:topics/topics partition:partition_indexes/partitions
FindCoordinator  local  none  DESCRIBE coordinator  handler  none
    coordinator:coordinator_keys/coordinators
JoinGroup  local  READ group  none  row  none
Heartbeat  local  READ group  none  row  none
LeaveGroup  local  READ group  none  row  none
SyncGroup  local  READ group  none  row  none
DescribeGroups  local  none  DESCRIBE group  row  none  refused_parts=first
    group:groups/groups
ListGroups  local  DESCRIBE cluster  DESCRIBE group  handler  none  right_or_parts
SaslHandshake  local  none  none  none  none
ApiVersions  local  none  none  none  none
CreateTopics  forwarded  CREATE cluster  CREATE topic  both  config values  right_or_parts
    topic:topics/topics
DeleteTopics  forwarded  DELETE cluster  DELETE topic  handler  none  right_or_parts
    topic:topic_names/responses
    topic:topics/responses
DeleteRecords  local  none  DELETE topic  row  none
    topic:topics/topics partition:partitions/partitions
InitProducerId  local  IDEMPOTENT_WRITE cluster  none  handler  none
OffsetForLeaderEpoch  local  CLUSTER_ACTION cluster  DESCRIBE topic  row  none  right_or_parts
    topic:topics/topics partition:partitions/partitions
AddPartitionsToTxn  local  WRITE transactional_id  WRITE topic  handler  none
    transactional_id:transactions/results_by_transaction topic:topics/topic_results partition:partitions/results_by_partition
    topic:v3_and_below_topics/results_by_topic_v3_and_below partition:partitions/results_by_partition
AddOffsetsToTxn  local  WRITE transactional_id + READ group  none  row  none
EndTxn  local  WRITE transactional_id  none  row  none
WriteTxnMarkers  local  ALTER|CLUSTER_ACTION cluster  none  row  none
    marker:markers/markers topic:topics/topics partition:partition_indexes/partitions
TxnOffsetCommit  local  WRITE transactional_id + READ group  READ topic  row  none  refused_parts=first
    topic:topics/topics partition:partitions/partitions
DescribeAcls  local  DESCRIBE cluster  none  row  none
CreateAcls  forwarded  ALTER cluster  none  row  none
DeleteAcls  forwarded  ALTER cluster  none  row  none
DescribeConfigs  local  none  DESCRIBE_CONFIGS resource  row  none
    resource:resources/results
AlterConfigs  forwarded  none  ALTER_CONFIGS resource  row  config values
    resource:resources/responses
AlterReplicaLogDirs  local  ALTER cluster  none  row  none
DescribeLogDirs  local  DESCRIBE cluster  none  row  none
SaslAuthenticate  local  none  none  none  bodies
CreatePartitions  forwarded  none  ALTER topic  row  none
    topic:topics/results
CreateDelegationToken  forwarded  none  none  handler  bodies
RenewDelegationToken  forwarded  none  none  handler  bodies
ExpireDelegationToken  forwarded  none  none  handler  bodies
DescribeDelegationToken  local  none  DESCRIBE delegation_token  handler  bodies
DeleteGroups  local  none  DELETE group  row  none  counts_parts_once
    group:groups_names/results
ElectLeaders  forwarded  ALTER cluster  none  row  none
    topic:topic_partitions/replica_election_results partition:partitions/partition_result
IncrementalAlterConfigs  forwarded  none  ALTER_CONFIGS resource  row  config values
    resource:resources/responses
AlterPartitionReassignments  forwarded  ALTER cluster  none  row  none
    topic:topics/responses partition:partitions/partitions
ListPartitionReassignments  forwarded  DESCRIBE cluster  none  row  none
OffsetDelete  local  DELETE group  READ topic  right  none
    topic:topics/topics partition:partitions/partitions
DescribeClientQuotas  local  DESCRIBE_CONFIGS cluster  none  row  none
AlterClientQuotas  forwarded  ALTER_CONFIGS cluster  none  row  none
DescribeUserScramCredentials  local  DESCRIBE cluster  none  row  none
AlterUserScramCredentials  forwarded  ALTER cluster  none  row  bodies
Vote  local  CLUSTER_ACTION cluster  none  row  none  module=quorum
BeginQuorumEpoch  local  CLUSTER_ACTION cluster  none  row  none  module=quorum
EndQuorumEpoch  local  CLUSTER_ACTION cluster  none  row  none  module=quorum
DescribeQuorum  forwarded  DESCRIBE cluster  none  row  none  module=quorum
AlterPartition  local  CLUSTER_ACTION cluster  none  row  none
UpdateFeatures  forwarded  ALTER cluster  none  row  none
Envelope  local  CLUSTER_ACTION cluster  none  row  bodies
FetchSnapshot  local  CLUSTER_ACTION cluster  none  row  none  module=quorum
DescribeCluster  local  none  none  handler  none  controller_right=ALTER cluster
DescribeProducers  local  none  READ topic  handler  none
    topic:topics/topics partition:partition_indexes/partitions
BrokerRegistration  local  CLUSTER_ACTION cluster  none  row  none
BrokerHeartbeat  local  CLUSTER_ACTION cluster  none  row  none
UnregisterBroker  forwarded  ALTER cluster  none  row  none
DescribeTransactions  local  none  DESCRIBE transactional_id  both  none  refused_parts=in order
    transactional_id:transactional_ids/transaction_states
ListTransactions  local  none  DESCRIBE transactional_id  handler  none
AllocateProducerIds  forwarded  CLUSTER_ACTION cluster  none  row  none
ConsumerGroupHeartbeat  local  READ group  none  both  none
ConsumerGroupDescribe  local  none  DESCRIBE group  both  none  refused_parts=first
    group:group_ids/groups
ControllerRegistration  local  CLUSTER_ACTION cluster  none  row  none
GetTelemetrySubscriptions  local  none  none  none  none
    hidden=advertised only with `telemetry=True`, as by a Kafka broker with a plugin for metrics of clients
PushTelemetry  local  none  none  none  none
    hidden=advertised only with `telemetry=True`, as by a Kafka broker with a plugin for metrics of clients
AssignReplicasToDirs  local  CLUSTER_ACTION cluster  none  row  none
ListConfigResources  local  DESCRIBE_CONFIGS cluster  none  row  none
DescribeTopicPartitions  local  none  DESCRIBE topic  handler  none
    topic:topics/topics
ShareGroupHeartbeat  local  READ group  none  both  none
ShareGroupDescribe  local  none  DESCRIBE group  both  none  refused_parts=first
    group:group_ids/groups
ShareFetch  local  READ group  READ topic  right  none
    topic:topics/responses partition:partitions/partitions
ShareAcknowledge  local  READ group  READ topic  right  none
    topic:topics/responses partition:partitions/partitions
AddRaftVoter  forwarded  ALTER cluster  none  row  none  module=quorum
RemoveRaftVoter  forwarded  ALTER cluster  none  row  none  module=quorum
UpdateRaftVoter  local  CLUSTER_ACTION cluster  none  row  none  module=quorum
InitializeShareGroupState  local  CLUSTER_ACTION cluster  none  row  none
    topic:topics/results partition:partitions/partitions
ReadShareGroupState  local  CLUSTER_ACTION cluster  none  row  none
    topic:topics/results partition:partitions/partitions
WriteShareGroupState  local  CLUSTER_ACTION cluster  none  row  none
    topic:topics/results partition:partitions/partitions
DeleteShareGroupState  local  CLUSTER_ACTION cluster  none  row  none
    topic:topics/results partition:partitions/partitions
ReadShareGroupStateSummary  local  CLUSTER_ACTION cluster  none  row  none
    topic:topics/results partition:partitions/partitions
StreamsGroupHeartbeat  local  READ group  none  both  none
StreamsGroupDescribe  local  none  DESCRIBE group  both  none  refused_parts=first
    group:group_ids/groups
DescribeShareGroupOffsets  local  none  DESCRIBE group  both  none  refused_parts=in order
    group:groups/groups topic:topics/topics partition:partitions/partitions
AlterShareGroupOffsets  local  READ group  READ topic  right  none
    topic:topics/responses partition:partitions/partitions
DeleteShareGroupOffsets  local  DELETE group  READ topic  right  none
    topic:topics/responses
StreamsGroupTopologyDescriptionUpdate  local  READ group  none  row  none
UnregisterController  forwarded  ALTER cluster  none  row  none
"""

_YES = ("right_or_parts", "counts_parts_once")
_NAMED = ("refused_parts=", "controller_right=", "module=", "controller_module=", "advertised_from=")
_SENTENCES = ("reason=", "hidden=")


def read_rows(text: str) -> Iterator[ApiRow]:
    """Yields the row of each API. Raises ValueError if a fact is missing or unknown."""
    rows: list[list[str]] = []
    for line in text.strip("\n").splitlines():
        if line.startswith("    "):
            rows[-1].append(line.strip())
        else:
            rows.append([line])
    for first, *more in rows:
        yield _read_row(first.split("  "), more)


def _read_row(facts: list[str], more: list[str]) -> ApiRow:
    name, where, right, part_right, guard, secrets, *others = facts
    if where not in ("forwarded", "local"):
        raise ValueError(f"{name} is forwarded or local, not {where!r}")
    sentences = [line for line in more if line.startswith(_SENTENCES)]
    return ApiRow(
        name,
        forwarded=where == "forwarded",
        parts=tuple(line for line in more if line not in sentences),
        right=right,
        part_right=part_right,
        guard=guard,
        secrets=secrets,
        **dict(map(_other_fact, (*others, *sentences))),
    )


def _other_fact(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    if text in _YES:
        return text, True
    if not text.startswith((*_NAMED, *_SENTENCES)):
        raise ValueError(f"{text!r} is no fact of an API")
    return name, int(value) if name == "advertised_from" else value
