"""Hypothesis strategies for the properties of records and batches."""

from hypothesis import strategies as st

from kafkadouble.wire.batch import Record

INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
EDGES = st.sampled_from([-1, 0, 1, 63, 64, -(1 << 63), (1 << 63) - 1, 1_700_000_000_000])
NULLABLE = st.one_of(st.none(), st.binary(max_size=200), st.integers(0, 20000).map(bytes))
NAMES = st.one_of(
    st.text(max_size=20), st.binary(max_size=20).map(lambda name: name.decode("utf-8", "surrogateescape"))
)
HEADERS = st.lists(st.tuples(NAMES, NULLABLE), max_size=4).map(tuple)
STEPS = st.one_of(st.just(1), st.just(1), st.integers(1, 100), st.integers(1, 1 << 27))


@st.composite
def records(draw: st.DrawFn, *, least: int = 1) -> tuple[int, list[Record]]:
    """A base offset, and records whose offsets ascend from it, with and without gaps."""
    base = draw(st.sampled_from([0, 5, 1 << 40, 1 << 62, (1 << 63) - (1 << 31)]))
    offset, made = base - 1, []
    for _ in range(draw(st.integers(least, 6))):
        offset += draw(STEPS)
        timestamp = draw(st.one_of(EDGES, INT64, st.integers(1_700_000_000_000, 1_700_000_100_000)))
        made.append(Record(offset, timestamp, draw(NULLABLE), draw(NULLABLE), draw(HEADERS)))
    return base, made


@st.composite
def damaged(draw: st.DrawFn, data: bytes, *, front: int = 80) -> bytes:
    """`data` with one to four bytes changed, inserted or removed, or its end cut off; more often
    near its front."""
    bad = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        position = draw(st.one_of(st.integers(0, min(front, len(bad))), st.integers(0, len(bad))))
        match draw(st.sampled_from(["change", "change", "insert", "remove", "cut"])):
            case "change" if position < len(bad):
                bad[position] = draw(st.integers(0, 255))
            case "insert":
                bad[position:position] = draw(st.sampled_from([b"\x00", b"\x01", b"\x7f", b"\x80", b"\xff" * 5]))
            case "remove":
                del bad[position : position + draw(st.integers(1, 4))]
            case "cut":
                del bad[position:]
    return bytes(bad)
