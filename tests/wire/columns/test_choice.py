"""How the implementation of the field search is chosen: by name, by the environment, or by the
shape of the chunk; and the compiled one, which checks every argument."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from kafkadouble.wire import columns
from kafkadouble.wire.batch import Record, encode_batch
from kafkadouble.wire.columns import choice
from kafkadouble.wire.columns.choice import IMPLEMENTATIONS, choose
from kafkadouble.wire.errors import UsageError
from tests.wire.columns.reading import BASIC, EVERY, MISSING, ORIGIN

needs_native = pytest.mark.skipif("native" not in columns.available(), reason=MISSING)
ALIKE, UNLIKE = np.full(1000, 70), np.array([4000, 4000, 4000])


def test_columns_implementation_is_chosen_by_batch_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAFKADOUBLE_COLUMNS", raising=False)
    monkeypatch.setattr(choice, "available", lambda: ("loop", "lanes", "hybrid"))
    assert choose(None, ALIKE) is IMPLEMENTATIONS["lanes"]
    assert choose(None, UNLIKE) is IMPLEMENTATIONS["hybrid"]
    assert choose(None, np.append(ALIKE, 70_000)) is IMPLEMENTATIONS["hybrid"]


@needs_native
def test_compiled_columns_implementation_is_chosen_if_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAFKADOUBLE_COLUMNS", raising=False)
    assert choose(None, ALIKE) is choose(None, UNLIKE) is IMPLEMENTATIONS["native"]


def test_columns_implementation_is_chosen_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKADOUBLE_COLUMNS", "loop")
    assert choose(None, ALIKE) is IMPLEMENTATIONS["loop"]
    assert choose("hybrid", ALIKE) is IMPLEMENTATIONS["hybrid"]
    buffer = bytes(encode_batch([Record(0, 5, b"k", b"v")]))
    with pytest.raises(UsageError, match="'fast', but by one of loop, lanes, hybrid"):
        columns.decode(buffer, columns.walk(buffer), BASIC, ORIGIN, implementation="fast")


WITHOUT = """
import sys
sys.modules["kafkadouble_fast"] = None
from kafkadouble.wire import columns
from kafkadouble.wire.errors import UsageError
assert columns.available() == ("loop", "lanes", "hybrid")
try:
    columns.decode(b"", columns.walk(b""), ("offset",), columns.Origin("t", 0), implementation="native")
except UsageError as problem:
    assert "pip install 'kafkadouble[fast]'" in str(problem), problem
else:
    raise AssertionError
"""
NO_NUMPY = """
import sys
sys.modules["{missing}"] = None
import kafkadouble.wire.batch
try:
    from kafkadouble.wire import columns
except ImportError as problem:
    assert "pip install 'kafkadouble[columns]'" in str(problem), problem
else:
    raise AssertionError
"""


NO_PANDAS = """
import sys

class Watch:
    def find_spec(self, name, path=None, target=None):
        assert name != "pandas"

sys.meta_path.insert(0, Watch())
from kafkadouble.wire import columns
from kafkadouble.wire.batch import Record, encode_batch
data = bytes(encode_batch([Record(0, 5, b"k", b"v", (("h", None),)), Record(1, 5, None, None)]))
(batch,) = columns.decode(data, columns.walk(data), columns.NAMES, columns.Origin("t", 0))
assert columns.between(batch, 1, 9).num_rows == 1
assert columns.encode(batch, now=5)
"""


@pytest.mark.parametrize(
    "program", [NO_PANDAS, WITHOUT, *(NO_NUMPY.format(missing=name) for name in ("numpy", "pyarrow"))]
)
def test_missing_columns_implementation_is_reported(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_columns_tests_cover_every_implementation() -> None:
    assert [each.values[0] for each in EVERY][: len(columns.available())] == list(columns.available())


class Arrays:
    """Arguments of the compiled functions for one batch of one record, in the module's order."""

    def __init__(self) -> None:
        self.data = np.frombuffer(bytes(encode_batch([Record(0, 5, b"k", b"v", (("h", b"x"),))]))[61:], np.uint8).copy()
        longs = [np.array([number]) for number in (0, len(self.data), 1)]
        self.find = [
            self.data,
            *longs,
            np.zeros(1, np.int64),
            *(np.zeros(1, np.int32) for _ in range(7)),
            np.zeros(1, bool),
        ]
        self.headers = [
            self.data,
            np.array([9], np.int32),
            np.array([1], np.int32),
            *(np.zeros(1, np.int32) for _ in range(4)),
        ]
        self.gather: list[Any] = [
            self.data, np.array([5], np.int32), np.array([1], np.int32), np.zeros(2, np.int32), np.zeros(1, np.uint8),
            np.zeros(1, np.uint8),
        ]  # fmt: skip


def raw(arrays: Arrays, function: str) -> bool:
    """Whether the compiled function accepts the arrays."""
    import kafkadouble_fast

    name = {"find": "find", "headers": "find_headers", "gather": "gather"}[function]
    try:
        getattr(kafkadouble_fast, name)(*getattr(arrays, function))
    except ValueError:
        return False
    return True


@needs_native
def test_the_compiled_functions_take_what_fits() -> None:
    arrays = Arrays()
    assert raw(arrays, "find")
    assert not arrays.find[-1][0]
    assert raw(arrays, "headers")
    assert raw(arrays, "gather")
    assert arrays.gather[-1].tobytes() == b"k"


HOSTILE = [
    ("find", 1, [-1]), ("find", 1, [99]), ("find", 2, [99]), ("find", 2, [1 << 62]), ("find", 3, [-1]), ("find", 3, [2]),
    ("find", 3, [1 << 62]), ("headers", 1, [-1]), ("headers", 1, [1 << 30]), ("headers", 2, [-1]), ("headers", 2, [2]),
    ("headers", 2, [1 << 30]), ("gather", 1, [-1]), ("gather", 1, [1 << 30]), ("gather", 2, [2]), ("gather", 2, [1 << 30]),
]  # fmt: skip


@needs_native
@pytest.mark.parametrize(("function", "argument", "values"), HOSTILE)
def test_numbers_that_lead_out_of_the_arrays_are_refused(function: str, argument: int, values: list[int]) -> None:
    arrays = Arrays()
    getattr(arrays, function)[argument][:] = values
    assert not raw(arrays, function)


@needs_native
@pytest.mark.parametrize("function", ["find", "headers", "gather"])
def test_column_arrays_that_are_too_short_are_refused(function: str) -> None:
    count = len(getattr(Arrays(), function))
    for argument in range(2, count):  # the first array gives the length
        arrays = Arrays()
        arguments = getattr(arrays, function)
        arguments[argument] = arguments[argument][:0]
        assert not raw(arrays, function), argument


@needs_native
def test_column_reader_refuses_a_value_that_is_no_buffer() -> None:
    import kafkadouble_fast

    with pytest.raises(TypeError, match="13 buffers"):
        kafkadouble_fast.find()
    with pytest.raises(TypeError):
        kafkadouble_fast.gather(*["x"] * 6)
    with pytest.raises(BufferError):
        kafkadouble_fast.gather(*[b"x"] * 6)
