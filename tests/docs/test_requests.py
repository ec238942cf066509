"""docs/requests.md and docs/lint.md: their examples run in their order, and say what is shown below
them."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import pytest

from kafkadouble.seen.request_filter import RequestNarrowing
from kafkadouble.server.tracing.seen_request import SeenRequest
from tests.support.pages import DOCS, Block, blocks

pytest.importorskip("confluent_kafka")


def outcome(example: Block, names: dict[str, Any]) -> str:
    """What an example prints, or the error that it raises."""
    printed = StringIO()
    try:
        with redirect_stdout(printed):
            exec(compile("\n" * example.line + example.text, "the page", "exec"), names)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return printed.getvalue()


def plain(line: str) -> str:
    """The line without what differs from run to run: times, versions of the client, sizes."""
    line = re.sub(r"\d\d:\d\d:\d\d\.\d{3}", "TIME", line)
    line = re.sub(r"in \d+ (ms|bytes)", r"in N \1", line)
    return re.sub(r"v\d+ #\d+|none of \d+", "N", line)


@pytest.mark.parametrize("page", ["requests.md", "lint.md"])
def test_the_examples_run(page: str) -> None:
    found = list(blocks((DOCS / page).read_text()))
    names: dict[str, Any] = {"__name__": "page"}
    try:
        for place, example in enumerate(found):
            if example.language != "python":
                continue
            said = [plain(line) for line in outcome(example, names).splitlines()]
            shown = found[place + 1] if place + 1 < len(found) and found[place + 1].language == "text" else None
            if shown is None:
                assert said == [], f"line {example.line}"
            for line in shown.text.splitlines() if shown else ():
                assert plain(line) in said, f"line {example.line}"
    finally:
        kafka = names.pop("kafka")
        names.clear()  # clients that outlive the broker would complain
        kafka.stop()


def test_every_attribute_of_a_request_is_listed() -> None:
    page = (DOCS / "requests.md").read_text()
    listed = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| .*\|$", page, re.MULTILINE))))
    public = {name for name in (*SeenRequest.__slots__, "parts", "error", "answer") if not name.startswith("_")}
    assert public - listed == {"forwarded", "forwarded_from", "arrived_throttled"}
    assert RequestNarrowing.__optional_keys__ <= listed
