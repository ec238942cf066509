"""When bytes pass under rules for connections: none is lost or passes another, and none passes too
early, whatever the rules and the times of the calls."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.server.faults.armed import Armed
from kafkadouble.server.faults.connection_actions import Bandwidth, HalfOpen, Latency, ResetAfter, SliceFrames
from kafkadouble.server.faults.match import Match
from kafkadouble.server.faults.pacing import Effect, Pacing
from kafkadouble.server.faults.rule import Rule
from kafkadouble.server.faults.shaped_line import IN, OUT, ShapedLine
from kafkadouble.server.faults.trigger import Trigger

START = 1_700_000_000_000
ALWAYS = Trigger(times=None)

seconds = st.integers(0, 500).map(lambda ms: ms / 1000)
ACTIONS = st.one_of(
    seconds.map(Latency),
    seconds.map(lambda each: Latency(each, each)),
    st.integers(1, 5000).map(Bandwidth),
    st.builds(SliceFrames, st.integers(1, 50), seconds),
    st.just(HalfOpen()),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(1, 300)),
        st.tuples(st.just("wait"), st.integers(0, 700)),
        st.tuples(st.just("arm"), ACTIONS),
        st.tuples(st.just("release"), st.integers(0, 3)),
    ),
    max_size=30,
)


def armed_of(action: object, trigger: Trigger = ALWAYS, since: int = START) -> Armed:
    return Armed(Rule(Match(), action, trigger), 1, since)  # type: ignore[arg-type]


def line_of(rules: list[Armed]) -> ShapedLine:
    return ShapedLine(rules, lambda match: True)


def pieces(line: ShapedLine, now: int, direction: int = OUT) -> list[bytes]:
    return [bytes(each) for each in line.take(direction, now)]


def until_empty(line: ShapedLine, now: int) -> tuple[bytes, int]:
    """What still passes, and when the last of it does, by deadlines alone."""
    found = b""
    while line.size(OUT):
        found += b"".join(pieces(line, now))
        deadline = line.next_deadline(now)
        if line.size(OUT):
            assert deadline is not None
            assert deadline > now
            now = deadline
    return found, now


@given(STEPS)
def test_no_byte_is_lost_and_none_passes_another(steps: list[tuple[str, object]]) -> None:
    rules: list[Armed] = []
    line, now, put, passed, counter = line_of(rules), START, b"", b"", 0
    for step, value in steps:
        if step == "put":
            assert isinstance(value, int)
            data = bytes((counter + at) % 251 for at in range(value))
            counter += value
            put += data
            line.put(OUT, data, now)
        elif step == "wait":
            assert isinstance(value, int)
            now += value
        elif step == "arm":
            rules.append(armed_of(value, since=now))
        elif rules:
            assert isinstance(value, int)
            rules.pop(value % len(rules)).release()
            line.forget_released()
        passed += b"".join(pieces(line, now))
        assert put.startswith(passed)
        assert line.size(OUT) == len(put) - len(passed)
    for rule in rules:
        rule.release()
    rules.clear()
    passed += b"".join(pieces(line, now))
    while line.size(OUT):  # more pieces than one call gives
        passed += b"".join(pieces(line, now))
    assert passed == put


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(1, 2000)), min_size=1, max_size=10), st.integers(1, 20_000))
def test_bandwidth_rule_passes_exactly_its_rate_of_bytes(puts: list[tuple[int, int]], rate: int) -> None:
    line, now, passed = line_of([armed_of(Bandwidth(rate))]), START, 0
    for wait, size in puts:
        now += wait
        passed += sum(map(len, pieces(line, now)))
        line.put(OUT, bytes(size), now)
        assert passed <= rate * (now - START) / 1000
    total = sum(size for _, size in puts)
    first = START + puts[0][0]
    rest, end = until_empty(line, now)
    assert passed + len(rest) == total
    assert total <= rate * (end - first) / 1000 + 1e-6
    idle = sum(wait for wait, _ in puts[1:])
    rounded_up = total / 1000  # each piece to the next µs, and a piece has a byte or more
    assert end - first <= total * 1000 / rate + rounded_up + idle + 1


@given(st.integers(1, 100), st.integers(1, 500), st.integers(0, 300))
def test_slices_come_one_after_the_other(size: int, total: int, gap_ms: int) -> None:
    line = line_of([armed_of(SliceFrames(size, gap_ms / 1000))])
    line.put(OUT, bytes(total), START)
    count = -(-total // size)
    if gap_ms:
        assert [len(piece) for piece in pieces(line, START)] == [min(size, total)]
    assert until_empty(line, START)[1] == START + (count - 1) * gap_ms


def test_bandwidth_rule_passes_all_bytes_that_are_due() -> None:
    line = line_of([armed_of(Bandwidth(100))])
    line.put(OUT, bytes(1000), START)
    assert sum(map(len, pieces(line, START + 5000))) == 500
    assert sum(map(len, pieces(line, START + 10_000))) == 500


def test_latency_rules_add_up_until_they_are_released() -> None:
    rules = [armed_of(Latency(1)), armed_of(Latency(2))]
    line = line_of(rules)
    line.put(OUT, b"a", START)
    assert (pieces(line, START + 2999), line.next_deadline(START)) == ([], START + 3000)
    rules[1].release()
    assert pieces(line, START + 999) == []
    assert pieces(line, START + 1000) == [b"a"]


def test_jitter_repeats_with_its_seed_and_keeps_the_order() -> None:
    def passes() -> list[int]:
        line = line_of([armed_of(Latency(0.5, 0.5))])
        for number in range(20):
            line.put(OUT, bytes([number]), START + 200 * number)
        found, times = b"", []
        for now in range(START, START + 5000):
            taken = b"".join(pieces(line, now))
            times += [now - START] * len(taken)
            found += taken
        assert found == bytes(range(20))
        return times

    first = passes()
    assert first == passes()
    assert len(set(first)) > 3


def test_half_open_connection_holds_both_directions_until_its_time_ends() -> None:
    rule = armed_of(HalfOpen(), Trigger(times=None, for_seconds=10))
    line = line_of([rule])
    line.put(IN, b"question", START)
    line.put(OUT, b"answer", START)
    assert line.is_half_open(START)
    assert pieces(line, START + 9999) == pieces(line, START + 9999, IN) == []
    assert line.next_deadline(START + 9999) == START + 10_000
    assert (pieces(line, START + 10_000), pieces(line, START + 10_000, IN)) == ([b"answer"], [b"question"])


def test_a_bandwidth_begins_when_a_half_open_connection_goes_on() -> None:
    half_open = armed_of(HalfOpen())
    line = line_of([half_open, armed_of(Bandwidth(10))])
    line.put(OUT, bytes(20), START)
    assert pieces(line, START + 60_000) == []
    half_open.release()
    assert pieces(line, START + 60_000) == []
    assert len(pieces(line, START + 61_000)) == 10


def test_a_reset_comes_after_exactly_so_many_bytes_of_both_directions() -> None:
    rule = armed_of(ResetAfter(10))
    line = line_of([rule])
    line.put(IN, b"12345678", START)
    assert pieces(line, START, IN) == [b"12345678"]
    assert not line.is_reset(START)
    line.put(OUT, b"abcdef", START)
    assert pieces(line, START) == [b"ab"]
    assert pieces(line, START) == []
    assert rule.hits == 0
    assert line.is_reset(START)
    assert rule.hits == 1


def test_a_rule_meets_a_connection_once() -> None:
    rule = armed_of(Latency(1), Trigger(on_call=2, times=1))
    first, second, third = (line_of([rule]) for _ in range(3))
    for line in (first, second, third, first):
        line.put(OUT, b"a", START)
    assert [len(pieces(line, START)) for line in (first, second, third)] == [2, 0, 1]
    assert (rule.met, rule.hits) == (2, 1)


def test_a_rule_that_begins_later_meets_what_comes_then() -> None:
    rule = armed_of(Latency(1), Trigger(times=None, after_seconds=5))
    line = line_of([rule])
    line.put(OUT, b"a", START)
    assert pieces(line, START) == [b"a"]
    line.put(OUT, b"b", START + 5000)
    assert pieces(line, START + 5999) == []
    assert pieces(line, START + 6000) == [b"b"]


def test_an_effect_of_one_chunk_does_not_touch_the_others() -> None:
    pacing, slow = Pacing(), Effect(armed_of(Latency(1)))
    pacing.put(3, START)
    pacing.put(5, START, [slow])
    pacing.put(7, START)
    assert pacing.take(START) == [3]
    assert pacing.take(START + 1000) == [5, 7]
