"""What a leader has heard: sessions, offsets, and that it belongs to one registration."""

from __future__ import annotations

from kafkadouble.server.controller.broker_heartbeat_manager import UNKNOWN, Heartbeats
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.metadata.image import Image
from tests.server.metadata.small_clusters import cluster, epoch_of

SESSION = 9000
START = 1_000_000


def three(fenced: int | None = None) -> Image:
    image = cluster(1, 2, 3, fenced=[] if fenced is None else [fenced])
    return image._replace(end=OffsetAndEpoch(500, 1))


def test_a_new_leader_gives_unfenced_brokers_a_whole_session_and_fenced_ones_none() -> None:
    image = three(fenced=2)
    heartbeats = Heartbeats(image, SESSION, START)
    alive = [id for id in (1, 2, 3) if heartbeats.has_session(image.brokers[id], START + SESSION)]
    assert alive == [1, 3]
    assert not heartbeats.has_session(image.brokers[1], START + SESSION + 1)


def test_a_broker_is_caught_up_when_it_has_read_what_the_leader_found() -> None:
    image = three()
    assert Heartbeats(image, SESSION, START).of(image.brokers[1]).registered_at == 499


def test_one_broker_expires_at_a_time_and_once() -> None:
    image = three()
    heartbeats = Heartbeats(image, SESSION, START)
    heartbeats.heard(image.brokers[2], START + 1)
    assert heartbeats.next_expiry() == START + SESSION + 1
    assert heartbeats.take_expired(image, START + SESSION) is None
    silent = [heartbeats.take_expired(image, START + SESSION + 1) for _ in range(3)]
    assert [broker and broker.id for broker in silent] == [1, 3, None]
    assert heartbeats.next_expiry() == START + SESSION + 2
    assert heartbeats.take_expired(image, START + SESSION + 2) == image.brokers[2]
    assert heartbeats.next_expiry() is None


def test_a_clock_that_goes_back_expires_nobody() -> None:
    image = three()
    heartbeats = Heartbeats(image, SESSION, START)
    assert heartbeats.take_expired(image, START - 100 * SESSION) is None
    assert heartbeats.has_session(image.brokers[1], START - 100 * SESSION)


def test_a_broker_without_heartbeats_never_expires_and_is_always_caught_up() -> None:
    image = three()
    heartbeats = Heartbeats(image, SESSION, START)
    for id in (1, 2, 3):
        heartbeats.never_expires(id)
    assert heartbeats.next_expiry() is None
    assert heartbeats.take_expired(image, START + 100 * SESSION) is None
    assert heartbeats.has_session(image.brokers[1], START + 100 * SESSION)
    assert heartbeats.read_by_active(image, 10**9)


def test_a_broker_that_is_unregistered_or_registered_anew_does_not_expire() -> None:
    image = three()
    heartbeats = Heartbeats(image, SESSION, START)
    again = image.brokers[2]._replace(epoch=600)
    image = image._replace(brokers=image.brokers.delete(1).set(2, again))
    assert heartbeats.take_expired(image, START + SESSION + 1) == image.brokers[3]
    assert heartbeats.take_expired(image, START + SESSION + 1) is None


def test_a_new_registration_begins_with_nothing() -> None:
    image = three()
    heartbeats = Heartbeats(image, SESSION, START)
    heartbeats.of(image.brokers[2]).metadata_offset = 77
    heartbeats.registered(2, 600, 603)
    known = heartbeats.of(image.brokers[2]._replace(epoch=600))
    assert (known.registered_at, known.metadata_offset, known.heard_at) == (603, UNKNOWN, None)


def test_an_amended_registration_keeps_its_session_and_begins_its_shutdown_anew() -> None:
    image = three()
    heartbeats = Heartbeats(image, SESSION, START)
    known = heartbeats.of(image.brokers[2])
    known.metadata_offset, known.shutdown_offset = 77, 42
    heartbeats.registered(2, epoch_of(2), 603)
    known = heartbeats.of(image.brokers[2])
    assert (known.registered_at, known.metadata_offset) == (603, UNKNOWN)
    assert (known.heard_at, known.shutdown_offset) == (START, UNKNOWN)


def test_only_active_brokers_hold_a_shutdown_up() -> None:
    image = three(fenced=2)
    heartbeats = Heartbeats(image, SESSION, START)
    first, third = (heartbeats.of(image.brokers[id]) for id in (1, 3))
    first.metadata_offset = 499
    assert not heartbeats.read_by_active(image, 499)
    third.metadata_offset = 499
    assert heartbeats.read_by_active(image, 499)
    assert not heartbeats.read_by_active(image, 500)
    third.metadata_offset, third.shutdown_offset = UNKNOWN, 480
    assert heartbeats.read_by_active(image, 499)


def test_a_broker_that_registered_past_it_is_known_from_its_epoch() -> None:
    image = three()
    heartbeats = Heartbeats(image, SESSION, START)
    assert heartbeats.of(image.brokers[3]._replace(epoch=700)).registered_at == 700
