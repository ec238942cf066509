"""The README's examples do what they say."""

import concurrent.futures.thread  # noqa: F401  # what is first imported inside of a pytester is imported again after it, and does not fit then
import re
import tomllib
from pathlib import Path

import pytest

HOUSE = Path(__file__).resolve().parent.parent
README = (HOUSE / "README.md").read_text()
EXAMPLES = [
    pytest.param(match[1], id=f"line-{README[: match.start()].count(chr(10)) + 2}")
    for match in re.finditer(r"```python\n(.*?)```", README, re.DOTALL)
]

pytest_plugins = ("pytester",)
pytestmark = pytest.mark.usefixtures("broker_imported")


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_runs(example: str, request: pytest.FixtureRequest) -> None:
    """An example that is a test runs under pytester, any other as a program. pytester forgets
    modules that are first imported while it runs."""
    if example.startswith("def test_"):
        pytester: pytest.Pytester = request.getfixturevalue("pytester")
        pytester.makepyfile(example)
        pytester.runpytest_inprocess("-p", "no:randomly").assert_outcomes(passed=1)
    else:
        exec(compile(example, "README.md", "exec"), {"__name__": "readme"})


def test_readme_has_eight_examples() -> None:
    assert len(EXAMPLES) == 8


LINKS = re.findall(r"\]\(([^)#]+)\)", README)
REPOSITORY = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]["urls"]["Repository"]


@pytest.mark.parametrize("link", LINKS)
def test_link_leads_somewhere(link: str) -> None:
    """The README is also read outside of the repository: links into the repository are whole
    addresses."""
    assert link.startswith("https://")
    if link.startswith(REPOSITORY):
        kind, path = re.fullmatch(rf"{REPOSITORY}/(blob|tree)/main/(.+)", link).groups()  # type: ignore[union-attr]
        assert (HOUSE / path).is_dir() == (kind == "tree")
        assert (HOUSE / path).exists()


@pytest.mark.parametrize("verb", ["demo", "test", "test-spark", "pipeline", "bench", "generate"])
def test_the_makefile_has_the_verb(verb: str) -> None:
    assert re.search(rf"^{verb}:", (HOUSE / "Makefile").read_text(), re.MULTILINE)
