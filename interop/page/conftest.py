"""The live page in Debian's Chromium, driven by Playwright. Without them every test is skipped, and
says what is missing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkadouble import KafkaDouble

SKIPPED = "SKIPPED: the live page was not tested, since there is no {}"
CHROMIUM = shutil.which("chromium")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
IMAGES = Path(__file__).parents[2] / "docs" / "images"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip(SKIPPED.format("Chromium"))
    sync_api = pytest.importorskip("playwright.sync_api", reason=SKIPPED.format("Playwright"))
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield started
        started.close()


@pytest.fixture
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble(seed=1) as kafka:
        yield kafka


@pytest.fixture
def cluster() -> Iterator[KafkaDouble]:
    with KafkaDouble(brokers=3, seed=1) as kafka:
        yield kafka


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A window. At the end nothing stands on its console."""
    context = browser.new_context(viewport={"width": 1280, "height": 760}, color_scheme="light")
    made, problems = context.new_page(), []
    made.set_default_timeout(20_000)
    made.on("pageerror", lambda error: problems.append(str(error)))
    made.on("console", lambda line: problems.append(line.text) if line.type in ("error", "warning") else None)
    made.problems = problems
    yield made
    context.close()
    assert problems == []


@pytest.fixture
def photograph(page: Any) -> Any:
    """Writes a screenshot for the docs, if KAFKADOUBLE_SCREENSHOTS is set."""

    def photograph(name: str) -> None:
        if os.environ.get("KAFKADOUBLE_SCREENSHOTS"):
            IMAGES.mkdir(exist_ok=True)
            page.screenshot(path=IMAGES / f"page-{name}.png")

    return photograph
