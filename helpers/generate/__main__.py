"""Writes every generated file; with `--check` it only says which ones would change."""

from __future__ import annotations

import sys

from . import made


def main(words: list[str]) -> int:
    """Returns 1 if a file would change and may not be written."""
    changed = {path: text for path, text in made().items() if not path.exists() or path.read_text() != text}
    for path, text in changed.items():
        print(path)
        if "--check" not in words:
            path.write_text(text)
    return int(bool(changed) and "--check" in words)


sys.exit(main(sys.argv[1:]))
