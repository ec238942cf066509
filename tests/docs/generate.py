"""`python -m tests.docs.generate` writes every generated page, and every generated table of the
other pages, except for the pages of `interop/generated_pages.py`.

A page is made whole, from code or from results that are committed. A table is found by its head
line; the rows below it are replaced. `test_generated.py` says that nothing would change.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from benchmarks import page as performance
from benchmarks.spark import figures
from kafkadouble.cli.parts import supported
from kafkadouble.lint.old_versions import OLD
from kafkadouble.lint.rules import RULES
from kafkadouble.lint.thresholds import THRESHOLDS
from kafkadouble.pipeline.client import others
from kafkadouble.pipeline.client.settings import TABLE as CLIENT_SETTINGS
from kafkadouble.pipeline.traffic.schema import COLUMNS
from kafkadouble.pipeline.wire.properties import REFUSED
from kafkadouble.pipeline.wire.table import TABLE as WIRE_OPTIONS
from kafkadouble.replay.comparison.field_rules import MAY_DIFFER
from kafkadouble.scenario.schema import json_schema as scenario_schema
from kafkadouble.server.apis.served import CONTROLLER_TABLE
from kafkadouble.server.raft.snapshots.metrics import METRICS
from tests.support import errors_page, public_api, reference_page, setting_readers, verbs_page
from tests.support.pages import DOCS, ROOT

PAGES: Mapping[str, Callable[[], str]] = {
    "errors.md": errors_page.as_markdown,
    "reference.md": reference_page.as_markdown,
    "supported.md": supported.as_markdown,
    "verbs.md": verbs_page.as_markdown,
}

FILES: Mapping[str, Callable[[], str]] = {
    "scenario.schema.json": lambda: json.dumps(scenario_schema(), indent=1) + "\n",
    "../server/configs/without_effect.py": setting_readers.as_python,
    "../tests/front/public_api.txt": public_api.as_text,
}
"""What is generated and is no page, by its path from the pages."""


class Table(NamedTuple):
    """A table of a page: the line that heads it, and what makes its rows."""

    page: str
    head: str
    rows: Callable[[], list[str]]


def client_settings() -> list[str]:
    """The first setting has no default, and must be given."""
    words = {None: "", "": "empty"}
    defaults = [words.get(each.default, f"`{each.default}`") for each in CLIENT_SETTINGS]
    defaults[0] = "must be given"
    return [
        f"| `{each.name}` | {default} | {each.doc} |" for each, default in zip(CLIENT_SETTINGS, defaults, strict=True)
    ]


def idle_settings() -> list[str]:
    rows = []
    for each in others.BY_NAME.values():
        same = ", ".join(f"`{value}`" if value else "empty" for value in each.same)
        rows.append(f"| `{each.name}` | {'refused' if each.refused else 'no effect'} | {same} | {each.why} |")
    return rows


def wire_options() -> list[str]:
    rows = []
    for option in WIRE_OPTIONS:
        default = "" if option.default is None else f"`{option.default}`"
        ours = "not in the connector: " if option.ours else ""
        rows.append(
            f"| `{option.name}` | {option.form} | {default} | {', '.join(option.uses)} | {ours}{option.meaning} |"
        )
    return rows


def refused_properties() -> list[str]:
    uses = {"batch": "source", "stream": "source", "source": "source", "sink": "sink"}
    return [
        f"| `kafka.{each.name}` | {', '.join(dict.fromkeys(uses[use] for use in each.uses))} | {each.why} |"
        for each in REFUSED
    ]


def traffic_columns() -> list[str]:
    return [f"| `{name}` | {kind} | {meaning} |" for name, kind, meaning in COLUMNS]


def replay_fields() -> list[str]:
    return [f"| `{name}` | {why} |" for name, why in MAY_DIFFER.items()]


def controller_apis() -> list[str]:
    ranges = [(served.name, served.lowest, served.highest) for served in CONTROLLER_TABLE]
    return [f"| {name} | {low if low == high else f'{low}-{high}'} |" for name, low, high in ranges]


def snapshot_metrics() -> list[str]:
    return [f"| `{metric.name}` | {metric.about} |" for metric in METRICS]


def lint_rules() -> list[str]:
    return [f"| `{rule.name}` | {rule.meaning} | {rule.harm} | {rule.remedy} |" for rule in RULES]


def old_versions() -> list[str]:
    return [f"| {api} | {old.below} | They {old.lacks}. | {old.since} |" for api, old in OLD.items()]


def lint_thresholds() -> list[str]:
    return [f"| `{each.name}` | {each.value} | {each.reason} |" for each in THRESHOLDS]


TABLES = (
    Table("lint.md", "| rule | what it finds | why it hurts | remedy |", lint_rules),
    Table("lint.md", "| API | versions below | what they lack | since Kafka |", old_versions),
    Table("lint.md", "| threshold | value | |", lint_thresholds),
    Table("controller-listener.md", "| API | versions |", controller_apis),
    Table("snapshots.md", "| metric | what it is |", snapshot_metrics),
    Table("client-settings.md", "| setting | default | |", client_settings),
    Table("client-settings.md", "| setting | | accepted without a warning | because |", idle_settings),
    Table("kafka-wire.md", "| option | value | default | for | |", wire_options),
    Table("kafka-wire.md", "| property | in | because |", refused_properties),
    Table("traffic.md", "| column | type | |", traffic_columns),
    Table("replay.md", "| field | because it is |", replay_fields),
    Table("performance.md", "| what | measured | goal | |", lambda: figures.rows(figures.committed())),
    *(Table("performance.md", head, rows) for head, rows in performance.TABLES.items()),
)


def with_rows(page: str, table: Table) -> str:
    """The page with the rows of one of its tables made again. ValueError if it has no such
    table."""
    before, head, after = page.partition(f"\n{table.head}\n")
    if not head:
        raise ValueError(f"{table.page} has no table {table.head!r}")
    ruler, _, body = after.partition("\n")
    lines = body.split("\n")
    end = next((index for index, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return "\n".join([before + head + ruler, *table.rows(), *lines[end:]])


def generated() -> dict[Path, str]:
    """What every file that holds something generated should hold."""
    texts = {DOCS / name: make() for name, make in {**PAGES, **FILES}.items()}
    for table in TABLES:
        path = DOCS / table.page
        texts[path] = with_rows(texts.get(path) or path.read_text(), table)
    return texts


def main() -> None:
    for path, text in generated().items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
