"""How a body becomes parameters."""

from __future__ import annotations

import difflib
from typing import Any

import pytest

from kafkadouble.control import bodies
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


def test_a_name_that_is_much_longer_than_every_known_one_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def compare(name: str, *_: object, **__: object) -> list[str]:
        compared.append(name)
        return []

    monkeypatch.setattr(difflib, "get_close_matches", compare)
    assert [near("x" * length, ("topic", "partition")) for length in (9, 27, 28, 10**6)] == [""] * 4
    assert [*map(len, compared)] == [9, 27]
