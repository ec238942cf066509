"""The output of a benchmark: a table for people, or one JSON object with cases, our figures, those
of the peers, and ratios (ours / peer) for programs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping


def note(text: str) -> None:
    """A note for the reader of the figures."""
    print(f"note: {text}", file=sys.stderr)


class Table:
    """A row per case with the figures of each library or server. A ratio is our figure divided by
    the peer's; the unit says which direction is better.
    """

    def __init__(self, name: str, unit: str) -> None:
        self.name, self.unit = name, unit
        self.cases: list[str] = []
        self.ours: dict[str, float] = {}
        self.peers: dict[str, dict[str, float]] = {}
        self.ratios: dict[str, dict[str, float]] = {}

    def add(self, case: str, ours: float, peers: Mapping[str, float]) -> None:
        self.cases.append(case)
        self.ours[case] = ours
        for peer, value in peers.items():
            self.peers.setdefault(peer, {})[case] = value
            self.ratios.setdefault(peer, {})[case] = ours / value if value else float("inf")

    def print(self, *, as_json: bool) -> None:
        if as_json:
            table = {"name": self.name, "unit": self.unit, "cases": self.cases, "ours": self.ours}
            print(json.dumps({**table, "peers": self.peers, "ratios": self.ratios}, indent=2))
            return
        print(f"{self.name} ({self.unit})")
        width = max((len(case) for case in self.cases), default=0)
        for case in self.cases:
            rivals = "".join(
                f"   {peer} {values[case]:.4g} ({self.ratios[peer][case]:.2f})"
                for peer, values in self.peers.items()
                if case in values
            )
            print(f"  {case:{width}}  ours {self.ours[case]:.4g}{rivals}")
