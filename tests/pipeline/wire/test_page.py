"""docs/kafka-wire.md: its tables are the tables in the code."""

from __future__ import annotations

from pathlib import Path

from kafkadouble.pipeline.wire.properties import REFUSED
from kafkadouble.pipeline.wire.table import TABLE, WireOption

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "kafka-wire.md").read_text()


def row(option: WireOption) -> str:
    default = "" if option.default is None else f"`{option.default}`"
    ours = "not in the connector: " if option.ours else ""
    return f"| `{option.name}` | {option.form} | {default} | {', '.join(option.uses)} | {ours}{option.meaning} |"


def lines(first: str) -> list[str]:
    """The rows of the table with this first head."""
    after = PAGE[PAGE.index(f"\n{first}") + 1 :].split("\n\n")[0]
    return after.splitlines()[2:]


def test_every_option_is_on_the_page() -> None:
    assert lines("| option |") == [row(option) for option in TABLE]


def test_every_refused_property_is_on_the_page() -> None:
    uses = {use: "source" if use in ("batch", "stream") else use for use in ("batch", "stream", "source", "sink")}
    expected = [
        f"| `kafka.{r.name}` | {', '.join(dict.fromkeys(uses[use] for use in r.uses))} | {r.why} |" for r in REFUSED
    ]
    assert lines("| property |") == expected
