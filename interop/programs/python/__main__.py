"""One program for the three clients in Python, in the shape that they have in `interop/clients`. It
puts them in the matrix with the others.

Rules. It runs in a process of its own, without anything of the tests. The last line of its output
is the object of the contract.
"""

from __future__ import annotations

import json
import sys
import traceback
import warnings

with warnings.catch_warnings():
    # These warnings are about calls of the clients themselves.
    warnings.simplefilter("ignore", DeprecationWarning)
    from interop.clients import CLIENTS

from .endurance import Endurance
from .report import Report
from .transformation import Transformation
from .walk import Walk

VERBS = {"walk": Walk, "write": Walk, "read": Walk, "endure": Endurance, "transform": Transformation}


def main(client: str, verb: str, bootstrap: str, topic: str, group: str) -> int:
    found = next(one for one in CLIENTS if one.name == client)
    report = Report(client, verb)
    code = 0
    try:
        getattr(VERBS[verb](found, report, bootstrap, topic, group), verb)()
    except Exception:  # the object is written all the same
        traceback.print_exc()
        code = 1
    print(json.dumps(report.result()._asdict()))
    return code


if __name__ == "__main__":
    if len(sys.argv) != 6 or sys.argv[2] not in VERBS:
        sys.exit(
            "usage: python -m interop.programs.python CLIENT walk|write|read|endure|transform BOOTSTRAP TOPIC GROUP"
        )
    sys.exit(main(*sys.argv[1:]))
