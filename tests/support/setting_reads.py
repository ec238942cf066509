"""Looks at every read of a setting in the tests: none may be of a setting that is listed as one
that nothing reads. It finds the names that are put together from pieces, which a search misses."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from kafkadouble.server.configs.broker import broker_config
from kafkadouble.server.configs.definition import Value
from kafkadouble.server.configs.layers import Layers
from kafkadouble.server.configs.without_effect import WITHOUT_EFFECT

CONFIGS = "kafkadouble.server.configs."
GETTERS = {CONFIGS + name for name in ("layers", "settings")}
OF_ALL = {CONFIGS + name for name in ("alter", "broker_rules", "describe", "effective", "node_rules")}
"""Modules that list or check every setting, or give the defaults of topics and groups."""


@contextmanager
def checked_reads() -> Iterator[None]:
    """Inside the block a read of a setting without effect is an AssertionError."""
    usual = Layers._value

    def checked(layers: Layers, name: str) -> Value:
        config = broker_config(name)
        if config is not None and config.name in WITHOUT_EFFECT:
            reader = _reader()
            assert reader in OF_ALL or not reader.startswith("kafkadouble"), (
                f"{reader} reads {name}, which WITHOUT_EFFECT lists: name it as one text, and run `make generate`"
            )
        return usual(layers, name)

    Layers._value = checked  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Layers._value = usual  # type: ignore[method-assign]


def _reader() -> str:
    """The module that asks for the value."""
    frame = sys._getframe(2)
    while frame.f_globals.get("__name__") in GETTERS and frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__"))
