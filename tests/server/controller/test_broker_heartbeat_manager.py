"""What a leader has heard: sessions, offsets, and that it belongs to one registration."""

from __future__ import annotations

from kafkadouble.server.controller.broker_heartbeat_manager import NO_OFFSET, BrokerHeartbeatManager
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.metadata.image import Image
from tests.server.controller.small_clusters import cluster, epoch_of

SESSION = 9000
START = 1_000_000


def three(fenced: int | None = None) -> Image:
    image = cluster(1, 2, 3, fenced=[] if fenced is None else [fenced])
    return image._replace(end=OffsetAndEpoch(500, 1))


def test_a_new_leader_gives_unfenced_brokers_a_whole_session_and_fenced_ones_none() -> None:
    image = three(fenced=2)
    heartbeats = BrokerHeartbeatManager(image, SESSION, START)
    alive = [id for id in (1, 2, 3) if heartbeats.has_valid_session(image.brokers[id], START + SESSION)]
    assert alive == [1, 3]
    assert not heartbeats.has_valid_session(image.brokers[1], START + SESSION + 1)


def test_a_broker_is_caught_up_when_it_has_read_what_the_leader_found() -> None:
    image = three()
    assert BrokerHeartbeatManager(image, SESSION, START).of(image.brokers[1]).registration_offset == 499


def test_broker_sessions_expire_one_at_a_time_and_once() -> None:
    image = three()
    heartbeats = BrokerHeartbeatManager(image, SESSION, START)
    heartbeats.touch(image.brokers[2], START + 1)
    assert heartbeats.next_expiry_ms() == START + SESSION + 1
    assert heartbeats.take_one_stale_broker(image, START + SESSION) is None
    silent = [heartbeats.take_one_stale_broker(image, START + SESSION + 1) for _ in range(3)]
    assert [broker and broker.id for broker in silent] == [1, 3, None]
    assert heartbeats.next_expiry_ms() == START + SESSION + 2
    assert heartbeats.take_one_stale_broker(image, START + SESSION + 2) == image.brokers[2]
    assert heartbeats.next_expiry_ms() is None


def test_a_clock_that_goes_back_expires_no_broker() -> None:
    image = three()
    heartbeats = BrokerHeartbeatManager(image, SESSION, START)
    assert heartbeats.take_one_stale_broker(image, START - 100 * SESSION) is None
    assert heartbeats.has_valid_session(image.brokers[1], START - 100 * SESSION)


def test_a_broker_without_heartbeats_never_expires_and_is_always_caught_up() -> None:
    image = three()
    heartbeats = BrokerHeartbeatManager(image, SESSION, START)
    for id in (1, 2, 3):
        heartbeats.never_expires(id)
    assert heartbeats.next_expiry_ms() is None
    assert heartbeats.take_one_stale_broker(image, START + 100 * SESSION) is None
    assert heartbeats.has_valid_session(image.brokers[1], START + 100 * SESSION)
    assert heartbeats.active_brokers_have_read(image, 10**9)


def test_a_broker_that_is_unregistered_or_registered_again_does_not_expire() -> None:
    image = three()
    heartbeats = BrokerHeartbeatManager(image, SESSION, START)
    again = image.brokers[2]._replace(epoch=600)
    image = image._replace(brokers=image.brokers.delete(1).set(2, again))
    assert heartbeats.take_one_stale_broker(image, START + SESSION + 1) == image.brokers[3]
    assert heartbeats.take_one_stale_broker(image, START + SESSION + 1) is None


def test_a_new_registration_begins_with_nothing() -> None:
    image = three()
    heartbeats = BrokerHeartbeatManager(image, SESSION, START)
    heartbeats.of(image.brokers[2]).metadata_offset = 77
    heartbeats.register(2, 600, 603)
    known = heartbeats.of(image.brokers[2]._replace(epoch=600))
    assert (known.registration_offset, known.metadata_offset, known.last_contact_ms) == (603, NO_OFFSET, None)


def test_an_amended_registration_keeps_its_session_and_restarts_its_shutdown() -> None:
    image = three()
    heartbeats = BrokerHeartbeatManager(image, SESSION, START)
    known = heartbeats.of(image.brokers[2])
    known.metadata_offset, known.controlled_shutdown_offset = 77, 42
    heartbeats.register(2, epoch_of(2), 603)
    known = heartbeats.of(image.brokers[2])
    assert (known.registration_offset, known.metadata_offset) == (603, NO_OFFSET)
    assert (known.last_contact_ms, known.controlled_shutdown_offset) == (START, NO_OFFSET)


def test_only_active_brokers_hold_a_shutdown_up() -> None:
    image = three(fenced=2)
    heartbeats = BrokerHeartbeatManager(image, SESSION, START)
    first, third = (heartbeats.of(image.brokers[id]) for id in (1, 3))
    first.metadata_offset = 499
    assert not heartbeats.active_brokers_have_read(image, 499)
    third.metadata_offset = 499
    assert heartbeats.active_brokers_have_read(image, 499)
    assert not heartbeats.active_brokers_have_read(image, 500)
    third.metadata_offset, third.controlled_shutdown_offset = NO_OFFSET, 480
    assert heartbeats.active_brokers_have_read(image, 499)


def test_a_broker_that_registered_past_it_is_known_from_its_epoch() -> None:
    image = three()
    heartbeats = BrokerHeartbeatManager(image, SESSION, START)
    assert heartbeats.of(image.brokers[3]._replace(epoch=700)).registration_offset == 700
