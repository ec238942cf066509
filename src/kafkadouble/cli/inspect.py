"""`kafkadouble inspect`: decodes the bytes of a request, a response, a message, a record batch or a
log file.

`kafkadouble.messages.show` decodes; this file finds the bytes and prints the result. Exit codes: 0;
1 when bytes are corrupt (their position is in the last line, on stderr); 2 for a wrong call.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path

from kafkadouble.messages import registry, show
from kafkadouble.wire.errors import UnknownMessage, UsageError, WireError

from .parts.file_errors import FileErrors
from .parts.inspect_input import FORMS, Source, source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kafkadouble.messages.message import Message

_EPILOG = """\
examples:
  kafkadouble inspect request.bin
  kafkadouble inspect --hex "00000010 0012 0003 00000001 0000 00 02 61 02 62 00" --style hex
  kafkadouble inspect --as response --api Fetch --version 12 response.bin
  kafkadouble inspect --as FetchRequest --version 12 body.bin
  kafkadouble inspect --style line __cluster_metadata-0/00000000000000000000.log

A request needs no options: its API and version are in its header. Exit codes: 0, 1 the bytes are broken
(stderr has the position), 2 a wrong call.
"""

_FOLDERS = {
    "__cluster_metadata": "metadata",
    "__consumer_offsets": "offsets",
    "__transaction_state": "transactions",
    "__share_group_state": "share",
}
_LOGS = (".log", ".checkpoint")
STYLES = ("tree", "line", "hex", "json")


def main(words: list[str]) -> int:
    """Decodes and prints the given bytes."""
    parser = _parser()
    options = parser.parse_args(_one_word(words))
    options.kind = options.kind or ("log" if options.file.endswith(_LOGS) and options.hex is None else "request")
    options.records = options.records or _records_of(options.file)
    try:
        with FileErrors(lambda error: f"{options.file}: {error.strerror or error}"):
            return _show_all(options)
    except (UsageError, UnknownMessage) as error:
        parser.error(str(error))


def _one_word(words: list[str]) -> list[str]:
    """Rewrites `--as message NAME` to `--as NAME`."""
    for at in range(len(words) - 2):
        if words[at : at + 2] == ["--as", "message"]:
            return [*words[: at + 1], *words[at + 2 :]]
    return words


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "kafkadouble inspect",
        description="Decode bytes of the Kafka protocol, or of Kafka's log files.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", nargs="?", default="-", help="the file to read; - (the default) is standard input")
    parser.add_argument("--hex", metavar="DIGITS", help="the bytes themselves, in hex, instead of a file")
    parser.add_argument(
        "--input", choices=FORMS, default="auto", help="the form of the bytes (default: auto, which recognises it)"
    )
    parser.add_argument(
        "--as",
        dest="kind",
        metavar="KIND",
        help="what the bytes are: request, response, batch, log, or the name of a message, such as FetchRequest or `message FetchRequest` "
        "(default: log for files that end in .log or .checkpoint, else request)",
    )
    parser.add_argument(
        "--api", metavar="API", help="the API of a response, or of a request without a header: its name or key"
    )
    parser.add_argument(
        "--version", type=int, metavar="N", help="the version of a response, or of a message without a header"
    )
    parser.add_argument("--style", choices=STYLES, default="tree", help="how to show it (default: tree)")
    parser.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="whether a request or response has its header",
    )
    parser.add_argument(
        "--sized",
        action=argparse.BooleanOptionalAction,
        help="whether the four bytes of size are in front of a request or response (default: recognised)",
    )
    parser.add_argument(
        "--records",
        choices=show.KINDS,
        help="decode keys and values of records as this kind; control records are always decoded (default: by the name of the folder)",
    )
    parser.add_argument("--full", action="store_true", help="show long values in full")
    return parser


def _records_of(file: str) -> str:
    """The kind of records in a log file, by the name of its folder. A snapshot holds metadata."""
    path = Path(file)
    topic = path.absolute().parent.name.rpartition("-")[0]
    return _FOLDERS.get(topic, "metadata" if path.suffix == ".checkpoint" else "raw")


def _show_all(options: argparse.Namespace) -> int:
    broken: WireError | None = None
    with source(options.file, options.hex, options.input, streams=options.kind == "log") as found:
        for shown in _shown(options, found):
            for line in _lines(shown, options.style):
                # With escapes for characters that the terminal cannot show.
                encoding = sys.stdout.encoding or "utf-8"
                print(line.encode(encoding, "backslashreplace").decode(encoding))
            broken = broken or shown.error
    if broken is None:
        return 0
    place = f" ({broken.offset:#x})" if broken.offset >= 0 else ""
    print(f"kafkadouble inspect: broken: {broken}{place}", file=sys.stderr)
    return 1


def _shown(options: argparse.Namespace, source: Source) -> Iterable[show.Shown]:
    """The decoded items, one after the other."""
    bounds = show.FULL if options.full else show.TREE
    if options.kind == "log":
        return show.log(source.read, records=options.records, bounds=bounds)
    data = source.read(-1)
    if options.kind == "batch":
        return show.log(BytesIO(data).read, records=options.records, bounds=bounds)
    if options.kind in ("request", "response") and options.header:
        return _frames(options, data, bounds)
    return [show.message(data, *_message(options), records=options.records, bounds=bounds)]


def _frames(options: argparse.Namespace, data: bytes, bounds: show.TextLimits) -> Iterator[show.Shown]:
    """The frames in the bytes: one after the other if they have sizes, else a single one."""
    if not data:
        raise UsageError("there are no bytes")
    at, sized = 0, options.sized
    key, version = _response(options) if options.kind == "response" else (0, 0)
    while at < len(data):
        if options.kind == "request":
            made = show.frame(data, at, sized=sized, records=options.records, bounds=bounds)
        else:
            made = show.response_frame(data, key, version, at, sized=sized, records=options.records, bounds=bounds)
        yield made
        at, sized = made.end, made.sized


def _response(options: argparse.Namespace) -> tuple[int, int]:
    """The API key and version of a response."""
    api = _api(options)
    return api.key, _version(options, api.versions)


def _message(options: argparse.Namespace) -> tuple[type[Message], int]:
    """The class and version of a message without a header."""
    if options.kind in ("request", "response"):
        api = _api(options)
        cls = api.request if options.kind == "request" else api.response
    else:
        cls = registry.message(options.kind)
    low, high = cls.versions
    version = low if low == high and options.version is None else _version(options, cls.versions)
    return cls, version


def _api(options: argparse.Namespace) -> registry.Api:
    if options.api is None:
        raise UsageError("--api is needed: the name or key of the API")
    return (
        registry.api(int(options.api))
        if options.api.isascii() and options.api.isdigit()
        else registry.api_named(options.api)
    )


def _version(options: argparse.Namespace, versions: tuple[int, int]) -> int:
    low, high = versions
    if options.version is None:
        raise UsageError(f"--version is needed: {low} to {high}")
    if not low <= options.version <= high:
        raise UsageError(f"--version is {low} to {high}, not {options.version}")
    return int(options.version)


def _lines(shown: show.Shown, style: str) -> Iterator[str]:
    if style == "hex":
        yield from shown.hexdump_lines()
    elif style == "tree":
        yield from shown.tree_lines()
    else:
        yield json.dumps(shown.json()) if style == "json" else shown.line()
