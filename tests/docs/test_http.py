"""docs/http.md: its calls succeed, in the order of the page, and its example in Python runs."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.control.http.problems import TABLE
from kafkadouble.control.server import ControlServer
from tests.support.pages import DOCS, blocks

PAGE = (DOCS / "http.md").read_text()
CALLS = [block.text for block in blocks(PAGE, "bash")]


def test_http_calls_of_the_page_succeed() -> None:
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("there is no curl, which the calls of docs/http.md need")
    with KafkaDouble() as kafka, ControlServer(kafka) as control:
        kafka.create_topic("orders", 2)
        script = "set -e\n" + "".join(CALLS).replace("curl -sS", "curl -sS --fail-with-body").replace(
            "$URL/verbs/reset -X POST\n", "$URL/verbs/reset -X POST\nCREATE_ORDERS\n"
        )
        create = 'curl -sS $URL/verbs/create_topic --json \'{"name": "orders"}\''
        ran = subprocess.run(
            ["bash", "-c", script.replace("CREATE_ORDERS", create)],
            env={"URL": control.url, "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert '"value":"two pears"' in ran.stdout


def test_the_example_in_python_runs() -> None:
    (example,) = blocks(PAGE, "python")
    exec(compile("\n" * example.line + example.text, "http.md", "exec"), {"__name__": "page"})


def test_http_page_lists_every_kind_of_error() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith(("| 4", "| 5"))]
    for row in TABLE:
        assert any(f"| {row.status} | `{row.kind}` |" in line for line in rows)
