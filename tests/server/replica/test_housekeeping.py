"""What a node does unasked."""

from kafkadouble.server.replica import scheduled_tasks
from tests.server.machine import Machine
from tests.support.conversation import Conversation, lines

TRANSCRIPT = """
node log.retention.check.interval.ms=60000 producer.id.expiration.ms=100000
a > CreateTopics v7 {topics: [{name: t, numPartitions: 1, replicationFactor: 1, configs: [{name: retention.ms, value: 30000}]}]}
a < {topics: [{name: t}]}
a > Produce v9 {acks: 1, topicData: [{name: t, partitionData: [{records: {batch: [old], producerId: 7, producerEpoch: 0, baseSequence: 0}}]}]}
a < {responses: [{partitionResponses: [{baseOffset: 0}]}]}
a > DescribeProducers v0 {topics: [{name: t, partitionIndexes: [0]}]}
a < {topics: [{partitions: [{activeProducers: [{producerId: 7, lastSequence: 0}]}]}]}
"""


def played(more: str) -> Conversation:
    conversation = Conversation()
    for _, line in lines(TRANSCRIPT + more):
        conversation.play(line)
    conversation.finish()
    return conversation


def test_records_older_than_the_retention_are_deleted_by_the_next_check() -> None:
    played(
        """
+59s
a > ListOffsets v7 {replicaId: -1, topics: [{name: t, partitions: [{timestamp: -2}]}]}
a < {topics: [{partitions: [{offset: 0}]}]}
+1s
a > ListOffsets v7 {replicaId: -1, topics: [{name: t, partitions: [{timestamp: -2}]}]}
a < {topics: [{partitions: [{offset: 1}]}]}
"""
    )


def test_a_silent_producer_is_forgotten() -> None:
    played(
        """
+20m
a > DescribeProducers v0 {topics: [{name: t, partitionIndexes: [0]}]}
a < {topics: [{partitions: [{activeProducers: []}]}]}
"""
    )


def test_a_waiting_fetch_learns_that_its_offset_is_out_of_range() -> None:
    played(
        """
b > Fetch v12 {maxWaitMs: 120000, minBytes: 1000, topics: [{topic: t, partitions: [{partitionMaxBytes: 1000}]}]}
b < nothing yet
+60s
b < {responses: [{topic: t, partitions: [{errorCode: OFFSET_OUT_OF_RANGE}]}]}
"""
    )


def test_closed_segments_of_the_metadata_are_flushed() -> None:
    machine = Machine({"internal.metadata.log.segment.bytes": 1000})
    for number in range(10):
        machine.create(f"topic-{number}")
    log = machine.node.controller.log
    machine.flush()
    for number in range(10, 20):
        machine.create(f"topic-{number}")
    assert len(log.segments) > 1
    scheduled_tasks.checkpoint_recovery_points(machine.node, machine.now)
    machine.flush()
    assert log.recovery_point == log.log_end_offset
