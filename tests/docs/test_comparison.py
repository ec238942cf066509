"""docs/comparison.md: each cell of the table of what people want is of an allowed kind, and each
link of kafkadouble leads to a section with an example that a test runs."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.docs.links import anchors
from tests.support.pages import DOCS, ROOT, blocks

PAGE = (DOCS / "comparison.md").read_text()
COLUMNS = ["", "kafkadouble", "kfake", "librdkafka's mock", "testcontainers", "Kafka's fault proxy", "toxiproxy"]

RUN_BY = {
    "clusters.md": "tests/docs/test_examples.py",
    "conditional-publish.md": "tests/kips/test_kip_27_page.py",
    "controllers.md": "tests/front/test_controllers_page.py",
    "groups.md": "tests/docs/test_examples.py",
    "http.md": "tests/docs/test_http.py",
    "faults.md": "tests/docs/test_faults.py",
    "leader-epochs.md": "tests/kips/test_page.py",
    "lint.md": "tests/docs/test_requests.py",
    "pytest.md": "tests/docs/test_pytest.py",
    "quotas.md": "tests/docs/test_examples.py",
    "replay.md": "tests/docs/test_replay.py",
    "requests.md": "tests/docs/test_requests.py",
    "security.md": "tests/docs/test_security.py",
    "transactions.md": "tests/docs/test_examples.py",
    "tutorial.md": "tests/docs/test_tutorial.py",
    "verbs.md": "tests/docs/test_verbs.py",
    "waiting.md": "tests/docs/test_examples.py",
}
"""Page -> the test that runs its examples."""

LANGUAGES = ("python", "bash")
"""Those of examples that a test runs."""

RUNS = re.compile(r"\bexec\(|\bmakepyfile\(|\brun_suite\(|\bsubprocess\.run\(")
PARTLY = r"(?=\S+(?: \S+){0,4}$)[^|\[\]]+"
OTHERS = re.compile(rf"yes|no|not checked|partly: {PARTLY}")
OURS = re.compile(
    rf"\[yes\]\((?P<yes>[^)]+)\)|\[partly\]\((?P<partly>[^)]+)\): {PARTLY}|\[no\]\([\w-]+\.md(#[\w-]+)?\)"
)
LINK = r"\[[^]]+\]\([^)\s]+\)"


def table() -> list[list[str]]:
    """The cells of every row, without the heads."""
    (section,) = re.findall(r"^## What people want.*?(?=^## )", PAGE, re.MULTILINE | re.DOTALL)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in re.findall(r"^\|.*\|$", section, re.MULTILINE)]
    heads = [row for row in rows if row[0] == ""]
    assert heads == [COLUMNS] * section.count("\n### ")
    return [row for row in rows if row[0] and set(row[0]) != {"-"}]


def section(title: str) -> str:
    """The text of a section of the page."""
    (found,) = re.findall(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


def rows_of(title: str) -> list[list[str]]:
    """The cells of each row of the table in a section, without its head."""
    lines = re.findall(r"^\|.*\|$", section(title), re.MULTILINE)[2:]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def section_of(page: str, anchor: str) -> str:
    """The text from this heading to the next one."""
    plain = re.sub(r"^```.*?^```$", lambda block: block[0].replace("\n#", "\n "), page, flags=re.MULTILINE | re.DOTALL)
    (found,) = [part for part in re.split(r"^(?=#{1,6} )", plain, flags=re.MULTILINE) if anchors(part) == {anchor}]
    return found


ROWS = table()
LINKS = sorted(
    {link for row in ROWS if (match := OURS.fullmatch(row[1])) for link in match.group("yes", "partly") if link}
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_cells_of_the_comparison_page_are_of_allowed_kinds(row: list[str]) -> None:
    assert len(row) == len(COLUMNS)
    assert OURS.fullmatch(row[1]), row[1]
    assert [cell for cell in row[2:] if not OTHERS.fullmatch(cell)] == []


def test_a_row_is_there_once() -> None:
    wishes = [row[0] for row in ROWS]
    assert len(wishes) == len(set(wishes)) > 40


@pytest.mark.parametrize("link", LINKS)
def test_a_link_leads_to_an_example_that_runs(link: str) -> None:
    page, _, anchor = link.partition("#")
    section = section_of((DOCS / page).read_text(), anchor)
    assert [block for language in LANGUAGES for block in blocks(section, language)]
    source = (ROOT / RUN_BY[page]).read_text()
    assert page in source
    assert RUNS.search(source)


def test_the_tests_of_the_linked_pages_are_listed() -> None:
    assert sorted({link.partition("#")[0] for link in LINKS}) == sorted(RUN_BY)


@pytest.mark.parametrize("cell", ["perhaps", "partly:", "partly: a b c d e f", "[yes](faults.md#fail)", "yes, in Go"])
def test_comparison_page_check_refuses_other_cells(cell: str) -> None:
    assert not OTHERS.fullmatch(cell)
    assert cell.startswith("[yes]") == bool(OURS.fullmatch(cell))


@pytest.mark.parametrize("row", rows_of("At a glance"), ids=lambda row: row[0])
def test_claims_about_kafkadouble_in_the_first_table_have_links(row: list[str]) -> None:
    assert re.search(LINK, row[1]), row[1]


def test_python_version_in_the_first_table_is_that_of_the_package() -> None:
    (needs,) = (row[1] for row in rows_of("At a glance") if row[0] == "needs")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert needs.startswith(f"[Python {project['requires-python'].removeprefix('>=')}]")


@pytest.mark.parametrize("item", re.split(r"^- ", section("When not to use kafkadouble"), flags=re.MULTILINE)[1:])
def test_each_reason_against_kafkadouble_has_a_link(item: str) -> None:
    assert re.search(LINK, item), item


@pytest.mark.parametrize("row", rows_of("Proxies, brokers and contracts"), ids=lambda row: row[0])
def test_tools_of_the_comparison_page_have_a_link_and_say_whether_they_were_tried(row: list[str]) -> None:
    assert re.match(r"\[[^]]+\]\(https://", row[0])
    assert row[-1] in ("tried", "not tried")
