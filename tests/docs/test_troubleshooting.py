"""docs/troubleshooting.md: each example says what is shown below it."""

from __future__ import annotations

import logging
import re
import urllib.request
from itertools import pairwise
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble
from tests.support.pages import DOCS, Block, blocks

confluent_kafka = pytest.importorskip("confluent_kafka")

PAGE = (DOCS / "troubleshooting.md").read_text()
PAIRS = [(code, shown) for code, shown in pairwise(blocks(PAGE)) if shown.language == "text"]
ADDRESS = re.compile(r"127\.0\.0\.1(?::|', )\d+")


def test_every_example_shows_its_message() -> None:
    examples = [block for block in blocks(PAGE, "python") if not block.title]
    assert [code for code, _ in PAIRS] == examples


@pytest.mark.parametrize(("code", "shown"), PAIRS, ids=[f"line-{code.line}" for code, _ in PAIRS])
def test_an_example_has_the_shown_message(
    code: Block, shown: Block, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    with KafkaDouble() as free:
        port = free.port
    names = {
        "KafkaDouble": KafkaDouble,
        "Producer": lambda config: confluent_kafka.Producer({**config, "log_level": 0}),
        "folder": tmp_path,
        "urllib": urllib,
    }
    with caplog.at_level(logging.WARNING, "kafkadouble"), pytest.raises(Exception, match=r".") as raised:
        exec(compile(code.text.replace("9092", str(port)), "troubleshooting.md", "exec"), names)
    message = [
        *(f"{record.levelname} {record.getMessage()}" for record in caplog.records),
        f"{raised.type.__name__}: {raised.value}",
    ]
    plain = [same_address(line.replace(str(tmp_path), "FOLDER")) for line in message]
    for line in shown.text.splitlines():
        assert same_address(line) in plain


def same_address(line: str) -> str:
    """The line as it is on any system, at any address, for any broker that leads."""
    line = re.sub(r"^OSError: \[Errno \d+\]", "OSError: [Errno]", line)
    line = re.sub(r"broker \d, which", "broker ID, which", line)
    return ADDRESS.sub("127.0.0.1:PORT", line)
