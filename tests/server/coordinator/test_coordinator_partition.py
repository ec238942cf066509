"""The partition of a coordinator's topic that holds a key."""

from kafkadouble.server.coordinator.coordinator_partition import partition_for


def test_a_key_has_its_partition() -> None:
    assert partition_for("hello", 50) == 99162322 % 50
    assert partition_for("polygenelubricants", 50) == 0
    assert partition_for("billing", 50) == 109829509 % 50
