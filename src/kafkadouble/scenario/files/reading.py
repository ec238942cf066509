"""Reads a scenario file. The suffix of the file decides between YAML and TOML."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkadouble.arguments.parameters import check
from kafkadouble.common.errors import UsageError
from kafkadouble.server.configs.did_you_mean import near

from . import toml_form
from .document import FilePosition, ScenarioDocument, problem_at

if TYPE_CHECKING:
    from os import PathLike

MOST_BYTES = 1 << 20


def read(scenario: str | PathLike[str]) -> ScenarioDocument:
    """The values of a file. Raises UsageError if it cannot be read, or is not what its suffix
    says."""
    check(scenario=scenario)
    file = os.fspath(scenario)
    suffix = os.path.splitext(file)[1]
    if suffix.lower() not in FORMS:
        hint = near(suffix, FORMS)
        raise UsageError(f"{file}: a scenario is a file {', '.join(f'*{each}' for each in FORMS)}, not *{suffix}{hint}")
    try:
        # A pipe would be waited for, and a device may never end.
        if not stat.S_ISREG(os.stat(file).st_mode):
            raise UsageError(f"{file}: a scenario is a regular file")
        with open(file, "rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except (OSError, ValueError) as problem:  # a null byte in a path is a ValueError
        if isinstance(problem, UsageError):
            raise
        reason = getattr(problem, "strerror", None) or problem
        raise UsageError(f"{file}: the scenario cannot be read: {reason}") from None
    if len(data) > MOST_BYTES:
        raise UsageError(f"{file}: a scenario has at most {MOST_BYTES} bytes; a step with produce_file appends more")
    return FORMS[suffix.lower()](file, _decoded(file, data))


def _decoded(file: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        before = data[: problem.start]
        position = FilePosition(before.count(b"\n") + 1, problem.start - before.rfind(b"\n"))
        raise problem_at(file, position, "a scenario is a text in UTF-8, and this byte is not") from None


def _yaml(file: str, text: str) -> ScenarioDocument:
    from .yaml_form import parse  # a library, which is an extra

    return parse(file, text)


FORMS: dict[str, Callable[[str, str], ScenarioDocument]] = {".yaml": _yaml, ".yml": _yaml, ".toml": toml_form.parse}
"""By suffix: what reads the text of a file."""
