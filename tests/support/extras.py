"""The table of extras in docs/reference.md: what each installs is read from pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping

from tests.support.pages import ROOT

INTRO = """\
`pip install 'kafkadouble[control,security]'` installs several extras at once. If an extra is
missing, the feature that needs it raises an error with the command that installs it. Two extras
have no such error: without `spark`, Spark finds no pyspark or pyarrow; without `fast`, a decoder in
Python is used."""

HEAD = "| extra | installs | needed for |"

NEEDED_FOR: Mapping[str, str] = {
    "control": "`serve --control-port`, `serve --page`, `kafka.page`: [http.md](http.md), [page.md](page.md); "
    "and so for the libraries of [other languages](languages.md)",
    "columns": "`fetch` and `open_log`, record batches as columns, captures, `kafkadouble traffic`, recordings: "
    "[fetch.md](fetch.md), [kafka-log.md](kafka-log.md), [columns.md](columns.md), [traffic.md](traffic.md), "
    "[replay.md](replay.md)",
    "security": "certificates that are made for a run, key stores in PKCS12, signed tokens of OAUTHBEARER: "
    "[security.md](security.md)",
    "scenario": "scenario files in YAML; those in TOML need nothing: [scenarios.md](scenarios.md)",
    "fast": "a compiled decoder of records, for all that `columns` is needed for: [columns.md](columns.md)",
    "spark": "the Spark sources `kafka-wire` and `kafka-log`: [spark.md](spark.md)",
    "telemetry": "metrics that clients push: [telemetry.md](telemetry.md)",
}


def installed() -> dict[str, list[str]]:
    """The names of the distributions that each extra installs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].items()
    return {extra: [re.split(r"[\[>=<]", each)[0] for each in listed] for extra, listed in extras}


def rows() -> Iterator[str]:
    """A row for each extra, in the order of pyproject.toml."""
    for extra, names in installed().items():
        yield f"| `{extra}` | {', '.join(names)} | {NEEDED_FOR[extra]} |"
