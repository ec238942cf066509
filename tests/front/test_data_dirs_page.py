"""docs/data-dirs.md has a row for every file that a broker leaves, and every message on it exists
in the source."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from kafkadouble import KafkaDouble
from tests.support.pages import blocks

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "data-dirs.md").read_text()
SOURCES = "".join(
    path.read_text() for name in ("log/files", "log/formats", "logs") for path in (ROOT / "server" / name).glob("*.py")
)


def first_cells(title: str) -> list[str]:
    section = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    rows = [line.split(" | ")[0] for line in section.splitlines() if line.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def is_named(path: str, names: list[str]) -> bool:
    name = path.rpartition("/")[2]
    return any(
        name == each.rpartition("/")[2]
        or (each.endswith("/") and path.startswith(each.removesuffix("N/")))
        or (each.startswith(".") and name.endswith(each))
        or (each.startswith("TOPIC-N/OFFSET") and name.endswith(each.removeprefix("TOPIC-N/OFFSET")))
        or (each.endswith("-") and name.startswith(each))
        for each in names
    )


def test_the_example_of_a_loss_of_power_runs() -> None:
    (example,) = (block for block in blocks(PAGE, "python") if "lose_flushes" in block.text)
    names = {"KafkaDouble": KafkaDouble, "TemporaryDirectory": TemporaryDirectory}
    exec(compile("\n" * example.line + example.text, "data-dirs.md", "exec"), names)


def test_every_file_that_a_broker_leaves_has_a_row(tmp_path: Path) -> None:
    with KafkaDouble(data_dir=tmp_path) as kafka:
        kafka.produce("orders", "two pears")
    left = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()]
    assert "orders-0/00000000000000000000.log" in left
    names = first_cells("Files")
    assert [path for path in left if not is_named(path, names) and path != ".lock"] == []


@pytest.mark.parametrize("message", first_cells("Recovery"))
def test_every_message_is_one(message: str) -> None:
    """The words of the message are in the source in this order, with values in between."""
    words = [part.strip(" .,:") for part in re.split(r"\.\.\.|\b[NM]\b", message)]
    pattern = ".{0,40}".join(re.escape(part) for part in words if part)
    assert re.search(pattern, SOURCES), pattern


def test_the_page_has_messages_and_files() -> None:
    assert len(first_cells("Recovery")) >= 10
    assert len(first_cells("Files")) >= 15
