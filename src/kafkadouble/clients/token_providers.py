"""OAUTHBEARER token providers for the Python clients that need an object of a class of theirs.

Their libraries are imported here on first use: a program that asks for the settings of one has it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from kafkadouble.common.errors import UsageError

OF_KAFKA_PYTHON = ("kafka.net.sasl.oauth", "kafka.sasl.oauth", "kafka.oauth.abstract")
"""Where releases of kafka-python have the class, the newest first."""


def kafka_python_provider(token: str) -> object:
    """A provider of this token for kafka-python. UsageError if that is not installed."""
    base = _class_in(OF_KAFKA_PYTHON, "kafka-python")
    return type("TokenProvider", (base,), {"token": lambda self: token, "extensions": lambda self: {}})()


def aiokafka_provider(token: str) -> object:
    """A provider of this token for aiokafka. UsageError if that is not installed."""

    async def given(self: object) -> str:
        return token

    base = _class_in(("aiokafka.abc",), "aiokafka")
    return type("TokenProvider", (base,), {"token": given})()


def _class_in(modules: tuple[str, ...], library: str) -> Any:
    for name in modules:
        try:
            return import_module(name).AbstractTokenProvider
        except (ImportError, AttributeError):
            continue
    raise UsageError(f"OAUTHBEARER with {library} needs {library} here: pip install {library}")
