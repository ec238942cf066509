"""docs/observe.md: its examples print what the page shows, with a quorum that the test runs."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kafkadouble.__main__ import main
from kafkadouble.messages.generated.topic_record import TopicRecord
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.network.clock import SteppedClock
from tests.front.observe.made import START, change, fill
from tests.support.served_replica import ServedReplica, served

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "observe.md").read_text()
CALLS = re.findall(r"```console\n\$ kafkadouble observe ([^\n]*)\n(.*?)```", PAGE, re.DOTALL)
ADDRESS = "localhost:9093"
LATER = [change(0, [1]), TopicRecord(name="returns", topic_id=Uuid(bytes(range(16, 32))))]
"""What changes during `--watch`, one second before each change."""


def matches(expected: str, output: str) -> bool:
    """Whether the output matches, where a line of three dots stands for any lines."""
    parts = (re.escape(part) for part in f"\n{expected}".split("\n...\n"))
    return re.fullmatch("\n(?:.*\n)?".join(parts), f"\n{output}", re.DOTALL) is not None


def test_page_of_observe_has_examples() -> None:
    assert [words for words, _ in CALLS] == [ADDRESS, f"--watch {ADDRESS}", f"--json {ADDRESS}"]


@pytest.mark.parametrize(("words", "expected"), CALLS, ids=["tables", "watch", "json"])
async def test_a_call_prints_the_output_on_the_page(
    words: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs: list[str] = []

    clock = SteppedClock(START)
    async with served(1, clock) as (member,):
        fill(member, clock)
        given = words.replace(ADDRESS, "{}:{}".format(*member.endpoint)).split()
        if "--watch" in given:
            outputs.append(await watched(given, member, clock))
        else:
            assert await asyncio.to_thread(main, ["observe", *given]) == 0
    out = outputs[0] if outputs else capsys.readouterr().out
    assert matches(expected, out), out


async def watched(words: list[str], member: ServedReplica, clock: SteppedClock) -> str:
    process = await asyncio.create_subprocess_exec(
        *[sys.executable, "-m", "kafkadouble", "observe", *words], cwd=ROOT, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    lines: list[bytes] = []
    while not lines or b" orders-1   grows " not in lines[-1]:
        lines.append(await process.stdout.readline())
    lines.append(await process.stdout.readline())  # the empty one
    for record in LATER:
        clock.advance(1000)
        member.append(record)
        lines.append(await process.stdout.readline())
    process.terminate()
    await process.wait()
    return b"".join(lines).decode()


def test_dots_stand_for_lines_and_for_nothing_else() -> None:
    assert matches("a\n...\nb\n", "a\nx\ny\nb\n")
    assert matches("...\nb\n", "x\nb\n")
    assert not matches("a\n...\nb\n", "a\nx\nb\nc\n")
    assert not matches("a\nb\n", "a\nx\nb\n")
