"""What is counted for clients: it is forgotten after an hour, and its amount is bounded."""

from __future__ import annotations

from kafkadouble.server.quotas import sensors
from kafkadouble.server.quotas.client_quota_manager import ClientQuotaManager, QuotaConfig
from kafkadouble.server.quotas.rate import Rate
from kafkadouble.server.quotas.sensors import IDLE_MS, Sensors

START = 1_700_000_000_000


def new() -> Sensors[Rate]:
    return Sensors(lambda: Rate(11, 1000))


def test_quota_sensor_is_kept_while_it_is_used() -> None:
    found = new()
    first = found.get("a", START)
    assert found.get("a", START + IDLE_MS) is first
    assert found.get("a", START + 2 * IDLE_MS) is first
    assert found.get("a", START + 3 * IDLE_MS + 1) is not first


def test_idle_quota_sensors_are_forgotten() -> None:
    found = new()
    for number in range(5):
        found.get(f"{number}", START + number)
    found.get("0", START + IDLE_MS)
    assert len(found) == 5
    found.get("b", START + IDLE_MS + 4)
    assert len(found) == 3, "0, which was used, 4, and the new one"


def test_sensors_take_no_more_bytes_than_they_may() -> None:
    found = new()
    first = found.get("first", START)
    found.get("second", START)
    number = 0
    while found.size_bytes + sensors.size_bytes_of("00000") <= sensors.MAX_SENSORS_BYTES:
        found.get(f"{number:05}", START)
        number += 1
    assert len(found) == number + 2
    assert found.get("first", START) is first
    found.get("one more", START)
    assert len(found) == number + 2
    assert found.size_bytes <= sensors.MAX_SENSORS_BYTES
    assert found.get("first", START) is first, "the one that was used longest ago is forgotten, which is the second"


def test_a_client_that_is_forgotten_is_a_new_one() -> None:
    manager = ClientQuotaManager("producer_byte_rate", QuotaConfig(11, 1))
    manager.update({(("user", None),): {"producer_byte_rate": 10.0}})
    assert manager.record("alice", "app", 150, START) == 5000
    for number in range(sensors.MAX_SENSORS_BYTES // sensors.SENSOR_BYTES):
        manager.record(f"user-{number}", "app", 1, START)
    assert manager.record("alice", "app", 1, START) == 0
