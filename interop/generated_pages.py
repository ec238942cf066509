"""`python -m interop.generated_pages` writes the pages made of results and lists of interop.

It is apart from `tests/docs/generate.py`, since `tests` does not import `interop`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from interop.differential import divergence
from interop.walks import page as clients

PAGES: Mapping[Path, Callable[[], str]] = {
    clients.PAGE: lambda: clients.as_markdown(json.loads(clients.RESULTS.read_text())),
    divergence.PAGE: divergence.as_markdown,
}

if __name__ == "__main__":
    for path, make in PAGES.items():
        path.write_text(make())
