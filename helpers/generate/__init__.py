"""Writes the verbs of the helper libraries: `python -m helpers.generate`.

Each library has a method for every verb of the control plane, and a parameter for every optional
one. Both come from the registry of verbs. `tests/helpers` says that nothing would change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from . import go, go_round_trips, java, java_results, java_round_trips, node, node_round_trips
from .model import VerbModel, verbs

FOLDER = Path(__file__).resolve().parents[1]

JAVA, JAVA_TESTS = (f"junit5/src/{each}/java/io/github/kafkadouble" for each in ("main", "test"))

FILES: Mapping[str, Callable[[list[VerbModel]], str]] = {
    "go/verbs.go": go.verbs_file,
    "go/params.go": go.params_file,
    "go/results.go": go.results_file,
    "go/names.go": go.names_file,
    f"{JAVA}/Verbs.java": java.verbs_file,
    f"{JAVA}/Params.java": java.params_file,
    f"{JAVA}/Types.java": java_results.types_file,
    f"{JAVA}/Names.java": java_results.names_file,
    "node/lib/verbs.js": node.verbs_file,
    "node/lib/verbs.d.ts": node.types_file,
    "node/lib/names.d.ts": node.names_file,
    "node/lib/results.d.ts": node.results_types_file,
    "node/lib/results.js": node.results_file,
    "go/round_trips_test.go": go_round_trips.test_file,
    f"{JAVA_TESTS}/RoundTripTests.java": java_round_trips.test_file,
    "node/test/round_trips.test.js": node_round_trips.test_file,
}
"""Path below `helpers` -> what makes its text."""


def made() -> dict[Path, str]:
    """The text of every generated file."""
    found = verbs()
    return {FOLDER / path: make(found) for path, make in FILES.items()}
