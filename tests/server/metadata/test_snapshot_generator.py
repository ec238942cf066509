"""How long a snapshot takes is measured by the stopwatch, from its first slice to its last."""

from __future__ import annotations

from tests.server.harness import Harness


def test_a_snapshot_that_starts_late_in_a_step_takes_only_its_own_time() -> None:
    """The time of a step stands still, and the next slice has the time of a later step."""
    cluster = Harness()
    cluster.create("t", partitions=3000)  # some slices
    node = cluster.node
    shows = [node.now + 7000]  # the step has begun 7 s ago
    node.stopwatch = lambda: shows[-1]
    node.snapshot_generator.write("a test")
    while not node.snapshot_generator.metrics.written.count:
        shows.append(shows[-1] + 4)
        cluster.tick(7004)
    assert len(shows) > 2
    assert node.snapshot_generator.metrics.written.last == shows[-1] - shows[0]
