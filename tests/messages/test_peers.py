"""Our bytes read and written again by other Python codecs, if they are installed: any difference is
a bug of ours or a known defect of theirs.

Known and left out: kio refuses unknown tags, error codes and negative times; kafka-python forgets
unknown tags and reads an ApiVersions response with an error as version 0 by design.
"""

from __future__ import annotations

import io
import warnings
from importlib import import_module
from typing import Any

import pytest

from kafkadouble.messages import registry
from kafkadouble.messages.fields import FieldInfo
from kafkadouble.messages.message import Message

from .making import Maker

SEED = 20261128


class Tame(Maker):
    """Makes messages that every peer can represent: known error codes, times that are not negative,
    no unknown tags."""

    def __init__(self, seed: object) -> None:
        super().__init__(seed, unknown=0, longest=130)

    def value(self, field: FieldInfo, version: int, flexible: bool) -> Any:
        if field.name.endswith("error_code"):
            return 0 if field.array is False and field.name == "error_code" and self.top else self.dice.randint(0, 30)
        if field.name.endswith("ms") and field.type in ("int32", "int64") and not field.array:
            return self.dice.choice((0, 1, 5000))
        return super().value(field, version, flexible)

    top = False


def made(cls: type[Message], version: int, turn: int) -> Message:
    maker = Tame((SEED, turn, cls.__name__, version))
    maker.top = cls.__name__ == "ApiVersionsResponse"
    return maker.message(cls, version)


def test_messages_are_encoded_as_by_kio() -> None:
    pytest.importorskip("kio", reason="NOT CHECKED against kio: it is not installed")
    index, serial = import_module("kio.index"), import_module("kio.serial")
    same = 0
    for api in registry.apis():
        for load, side in ((index.load_request_schema, "request"), (index.load_response_schema, "response")):
            for version in range(api.versions[0], api.versions[1] + 1):
                schema = _schema(index, load, api.key, version)
                if schema is None:
                    continue
                cls = getattr(api, side)
                for turn in range(2):
                    wire = made(cls, version, turn).encode(version)
                    place = f"{cls.__name__} version {version}, turn {turn} of seed {SEED}"
                    entity, size = serial.entity_reader(schema)(wire, 0)
                    out = io.BytesIO()
                    serial.entity_writer(schema)(out, entity)
                    assert (size, out.getvalue()) == (len(wire), wire), place
                    same += 1
    assert same > 800


def _schema(index: Any, load: Any, key: int, version: int) -> Any:
    """The peer's class, or None for a version that the peer does not have yet."""
    try:
        return load(key, version)
    except index.KioIndexError:
        return None


def test_kafka_python_reads_and_writes_the_same() -> None:
    pytest.importorskip("kafka", reason="NOT CHECKED against kafka-python: it is not installed")
    classes = _kafka_python()
    same = 0
    for api in registry.apis():
        for cls in () if api.retired else (api.request, api.response):
            theirs = classes.get(cls.__name__)
            top = min(cls.versions[1], theirs.max_version) if theirs else -1
            for version in range(cls.versions[0], top + 1):
                assert theirs is not None
                for turn in range(2):
                    wire = made(cls, version, turn).encode(version)
                    message = theirs.decode(wire, version=version)
                    message._header = message._min_version = message._max_version = None
                    assert bytes(message.encode(version=version)) == wire, (
                        f"{cls.__name__} version {version}, turn {turn} of seed {SEED}"
                    )
                    same += 1
    assert same > 600


def _kafka_python() -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("admin", "consumer", "metadata", "producer", "sasl"):
            import_module(f"kafka.protocol.{name}")
        base = import_module("kafka.protocol.api_message").ApiMessage
    found: dict[str, Any] = {}
    todo = [base]
    while todo:
        for cls in todo.pop().__subclasses__():
            todo.append(cls)
            if "_v" not in cls.__name__:
                found[cls.__name__] = cls
    return found
