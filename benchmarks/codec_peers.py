"""Other Python codecs with one interface: for a case, a function that reads its bytes, and one that
writes the result.

A peer that is not installed, or does not have the version, gives None. Each peer must write the
same bytes that it read.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from importlib import import_module, metadata
from typing import Any, NamedTuple

from kafkadouble.messages import registry

from .codec_cases import Case


class Codec(NamedTuple):
    """`read` takes bytes; `write` takes the object that `read` made."""

    read: Callable[[bytes], Any]
    write: Callable[[Any], Any]


def ours(case: Case) -> Codec:
    cls, version = type(case.message), case.version
    return Codec(lambda data: cls.decode(data, version), lambda message: message.encode(version))


def ours_parts(case: Case) -> Codec:
    """This project's codec, which writes buffers for `sendmsg` instead of one `bytes`."""
    cls, version = type(case.message), case.version
    return Codec(lambda data: cls.decode(data, version), lambda message: message.parts(version))


def kafka_python(case: Case) -> Codec | None:
    place = {
        "Fetch": "consumer.fetch",
        "Metadata": "metadata.metadata",
        "ApiVersions": "metadata.api_versions",
        "Produce": "producer.produce",
    }
    name = type(case.message).__name__
    cls = getattr(import_module("kafka.protocol." + place[_api(case)]), name)
    version = case.version

    def read(data: bytes) -> Any:
        message = cls.decode(data, version=version)
        # its decode leaves them unset
        message._header = message._min_version = message._max_version = None
        return message

    return Codec(read, lambda message: message.encode(version=version))


def aiokafka(case: Case) -> Codec | None:
    place = {"Fetch": "fetch", "Metadata": "metadata", "ApiVersions": "admin", "Produce": "produce"}
    name = type(case.message).__name__.replace("ApiVersions", "ApiVersion") + f"_v{case.version}"
    cls = getattr(import_module("aiokafka.protocol." + place[_api(case)]), name, None)
    return cls and Codec(cls.decode, lambda message: message.encode())


def kio(case: Case) -> Codec | None:
    index, serial = import_module("kio.index"), import_module("kio.serial")
    load = index.load_request_schema if case.message.kind == "request" else index.load_response_schema
    schema = load(registry.api_named(_api(case)).key, case.version)
    reader, writer = serial.entity_reader(schema), serial.entity_writer(schema)

    def write(message: Any) -> bytes:
        out = io.BytesIO()
        writer(out, message)
        return out.getvalue()

    return Codec(lambda data: reader(data, 0)[0], write)


PEERS: dict[str, Callable[[Case], Codec | None]] = {"kafka-python": kafka_python, "aiokafka": aiokafka, "kio": kio}
"""The adapters, by distribution name."""


def installed() -> dict[str, str]:
    """The peers that are installed, with their versions."""
    found = {}
    for name in PEERS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _api(case: Case) -> str:
    return type(case.message).__name__.removesuffix("Request").removesuffix("Response")
