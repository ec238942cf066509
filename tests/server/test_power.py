"""What must be on the disk, so that a loss of power cannot restore an outdated state, nor lose a
state that others rely on."""

from __future__ import annotations

from random import Random

from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest
from kafkadouble.server.replica import leadership

from .machine import Machine, produce_request, produced

SEEDS = range(40)
EVERY = {"log.flush.interval.messages": 1}


def test_clean_shutdown_file_does_not_come_back_after_a_power_loss() -> None:
    """The old file would claim that logs are clean that were written to since."""
    machine = Machine()
    machine.restart()
    assert not any(machine.disks["a"].power_lost(Random(seed)).exists(".kafka_cleanshutdown") for seed in SEEDS)


def test_the_topic_id_of_a_folder_is_flushed_before_its_records() -> None:
    machine = Machine(EVERY)
    machine.create("t")
    pending = machine.begin(produce_request("t", b"a"), 9)
    machine.flush()
    assert produced(pending) == (0, 0)
    message = machine.disks["a"].read_whole("t-0/partition.metadata")
    for seed in SEEDS:
        assert machine.disks["a"].power_lost(Random(seed)).read_whole("t-0/partition.metadata") == message


def test_an_epoch_that_was_seen_does_not_begin_again() -> None:
    for seed in SEEDS:
        machine = Machine()
        machine.create("t")
        machine.flush()
        epoch = leadership.elect(machine.node, machine.partition("t"))
        machine.lose_power(Random(seed))
        assert machine.partition("t").leader_epoch > epoch


def test_a_producer_id_is_not_given_again() -> None:
    requested = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
    for seed in SEEDS:
        machine = Machine()
        producer_id = machine.submit(requested, 4).producer_id
        machine.lose_power(Random(seed))
        assert machine.submit(requested, 4).producer_id > producer_id
