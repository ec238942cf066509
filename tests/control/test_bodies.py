"""How a body becomes parameters."""

from __future__ import annotations

import asyncio
import difflib
import threading
from collections.abc import AsyncIterator
from typing import Any, ClassVar

import pytest

from kafkadouble.control.http import bodies
from kafkadouble.control.http.problems import ControlProblem
from kafkadouble.server.configs.did_you_mean import near


class Name(str):
    """The name of a field, which counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other)


def test_a_field_that_is_there_twice_is_found_in_one_pass() -> None:
    count = 2000
    pairs: list[tuple[str, Any]] = [(Name(number), None) for number in (*range(count), count - 1)]
    Name.compared = 0
    with pytest.raises(ValueError, match=f"the field '{count - 1}' is there twice"):
        bodies._once(pairs)
    assert Name.compared < 4 * count


def test_very_long_parameter_names_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def compare(name: str, *_: object, **__: object) -> list[str]:
        compared.append(name)
        return []

    monkeypatch.setattr(difflib, "get_close_matches", compare)
    assert [near("x" * length, ("topic", "partition")) for length in (9, 27, 28, 10**6)] == [""] * 4
    assert [*map(len, compared)] == [9, 27]


class Call:
    """A request whose body comes in two parts; between them others run."""

    headers: ClassVar[dict[str, str]] = {"content-type": "application/json"}

    def __init__(self, *parts: bytes) -> None:
        self._parts = parts

    async def stream(self) -> AsyncIterator[bytes]:
        for part in self._parts:
            yield part
            await asyncio.sleep(0)


async def test_request_bodies_read_at_once_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "MOST_AT_ONCE", 50)
    readers = bodies.BodyReader()

    async def read(*parts: bytes) -> Any:
        try:
            return await readers.parameters(Call(*parts))  # type: ignore[arg-type]
        except ControlProblem as problem:
            return problem.status

    body = b'{"name":', b'"0123456789"}'
    assert await asyncio.gather(*(read(*body) for _ in range(3))) == [{"name": "0123456789"}] * 2 + [503]
    assert readers.held_bytes == 0
    assert await read(b"{", b" " * 60) == 503
    assert await read(b"no JSON") == 400
    assert await read() == {}
    assert readers.held_bytes == 0


def test_a_large_body_is_parsed_on_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []
    parse = bodies._object

    def noted(body: bytes) -> dict[str, Any]:
        threads.append(threading.get_ident())
        return parse(body)

    monkeypatch.setattr(bodies, "_object", noted)
    for size in (10, bodies.MUCH):
        asyncio.run(bodies.BodyReader().parameters(Call(b'{"n": "' + b"n" * size + b'"}')))  # type: ignore[arg-type]
    assert [thread == threading.get_ident() for thread in threads] == [True, False]
