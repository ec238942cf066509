"""One bound for the bytes of all connections."""

from kafkadouble.server.requests.memory_pool import ALLOWANCE, PATIENCE_MS, MemoryPool
from kafkadouble.server.requests.timers import Timers

LIMIT = 10 * ALLOWANCE


class Connection:
    """Records the calls that it gets."""

    def __init__(self) -> None:
        self.restrained = False
        self.ended = ""

    def restrain(self, restrained: bool) -> None:
        self.restrained = restrained

    def end(self, why: str) -> None:
        self.ended = why


def three() -> tuple[MemoryPool, Timers, list[Connection]]:
    timers = Timers()
    return MemoryPool(LIMIT, timers), timers, [Connection() for _ in range(3)]


def test_below_the_limit_no_connection_is_restrained() -> None:
    intake, _, connections = three()
    for connection in connections:
        intake.note(connection, LIMIT // 3, now=0)
    assert [c.restrained for c in connections] == [False] * 3
    assert intake.total == LIMIT // 3 * 3


def test_memory_pool_above_its_limit_reads_only_the_largest_request() -> None:
    intake, _, (a, b, c) = three()
    intake.note(a, 3 * ALLOWANCE, now=0)
    intake.note(b, 6 * ALLOWANCE, now=0)
    intake.note(c, 2 * ALLOWANCE, now=0)
    assert (a.restrained, b.restrained, c.restrained) == (True, False, True)


def test_connections_within_the_allowance_are_not_muted() -> None:
    intake, _, (a, b, c) = three()
    intake.note(a, LIMIT, now=0)
    intake.note(b, ALLOWANCE, now=0)
    intake.note(c, ALLOWANCE, now=0)
    assert (b.restrained, c.restrained) == (False, False)


def test_memory_pool_below_its_limit_reads_all_connections() -> None:
    intake, timers, (a, b, _) = three()
    intake.note(a, 7 * ALLOWANCE, now=0)
    intake.note(b, 6 * ALLOWANCE, now=0)
    assert b.restrained
    intake.note(a, 0, now=5)
    assert [a.restrained, b.restrained] == [False, False]
    assert timers.next_deadline() is None


def test_connections_take_turns_when_memory_is_short() -> None:
    intake, _, connections = three()
    for connection in connections:
        intake.note(connection, 6 * ALLOWANCE, now=0)
    left = list(connections)
    while left:
        free = [c for c in left if not c.restrained]
        assert free, "one connection always goes on"
        intake.note(free[0], 0, now=1)
        left.remove(free[0])
    assert intake.total == 0


def test_an_admitted_connection_that_sends_nothing_is_disconnected_and_the_next_goes_on() -> None:
    intake, timers, (a, b, _) = three()
    intake.note(a, 7 * ALLOWANCE, now=0)
    intake.note(b, 6 * ALLOWANCE, now=0)
    timers.run(PATIENCE_MS)
    assert "others wait" in a.ended
    assert not b.restrained
    assert intake.total == 6 * ALLOWANCE


def test_an_admitted_connection_that_sends_too_slowly_is_disconnected() -> None:
    intake, timers, (a, b, _) = three()
    intake.note(a, 7 * ALLOWANCE, now=0)
    intake.note(b, 6 * ALLOWANCE, now=0)
    for now in range(1, PATIENCE_MS, PATIENCE_MS // 20):
        intake.note(a, 7 * ALLOWANCE + now, now)
        timers.run(now)
    assert not a.ended
    timers.run(PATIENCE_MS)
    assert (bool(a.ended), b.restrained) == (True, False)


def test_a_connection_that_delays_no_other_has_no_time_limit() -> None:
    intake, timers, (a, b, _) = three()
    intake.note(a, 9 * ALLOWANCE, now=0)
    intake.note(b, ALLOWANCE, now=0)
    intake.note(a, 10 * ALLOWANCE, now=1)
    timers.run(10 * PATIENCE_MS)
    intake.note(a, 9 * ALLOWANCE, now=10 * PATIENCE_MS)
    assert not a.ended
    assert timers.next_deadline() is None


def test_the_next_admitted_connection_has_as_much_time() -> None:
    intake, timers, (a, b, c) = three()
    intake.note(a, 9 * ALLOWANCE, now=0)
    intake.note(b, 8 * ALLOWANCE, now=0)
    intake.note(c, 7 * ALLOWANCE, now=0)
    intake.note(a, 0, now=PATIENCE_MS - 1)
    assert [x.restrained for x in (b, c)] == [False, True]
    timers.run(2 * PATIENCE_MS - 2)
    assert not b.ended
    timers.run(2 * PATIENCE_MS - 1)
    assert (bool(b.ended), c.restrained) == (True, False)
