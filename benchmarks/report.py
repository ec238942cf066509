"""The output of a benchmark: a table for people, or one JSON object with cases, our figures, those
of the peers, and ratios (ours / peer) for programs.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Mapping, Sequence


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
        self.quartiles: dict[str, list[float]] = {}
        self.ratio_quartiles: dict[str, dict[str, list[float]]] = {}

    def add(self, case: str, ours: float, peers: Mapping[str, float]) -> None:
        self.cases.append(case)
        self.ours[case] = ours
        for peer, value in peers.items():
            self.peers.setdefault(peer, {})[case] = value
            self.ratios.setdefault(peer, {})[case] = ours / value if value else float("inf")

    def add_runs(self, case: str, ours: Sequence[float], peers: Mapping[str, Sequence[float]]) -> None:
        """A case that was run often, each time beside the peers. Its figures are medians. A ratio
        is the median of the ratios of each run. The first and the third quartile of both are kept.
        """
        self.add(case, statistics.median(ours), {peer: statistics.median(runs) for peer, runs in peers.items()})
        self.quartiles[case] = statistics.quantiles(ours, n=4)[::2]
        for peer, runs in peers.items():
            ratios = [one / other for one, other in zip(ours, runs, strict=True)]
            low, self.ratios[peer][case], high = statistics.quantiles(ratios, n=4)
            self.ratio_quartiles.setdefault(peer, {})[case] = [low, high]

    def print(self, *, as_json: bool) -> None:
        if as_json:
            table = {"name": self.name, "unit": self.unit, "cases": self.cases, "ours": self.ours}
            spread = {"quartiles": self.quartiles, "ratio_quartiles": self.ratio_quartiles} if self.quartiles else {}
            print(json.dumps({**table, "peers": self.peers, "ratios": self.ratios, **spread}, indent=2))
            return
        print(f"{self.name} ({self.unit})")
        width = max((len(case) for case in self.cases), default=0)
        for case in self.cases:
            rivals = "".join(
                f"   {peer} {values[case]:.4g} ({self.ratios[peer][case]:.2f}{self._spread(peer, case)})"
                for peer, values in self.peers.items()
                if case in values
            )
            print(f"  {case:{width}}  ours {self.ours[case]:.4g}{rivals}")

    def _spread(self, peer: str, case: str) -> str:
        """The quartiles of a ratio, if the case was run often."""
        if case not in self.ratio_quartiles.get(peer, {}):
            return ""
        low, high = self.ratio_quartiles[peer][case]
        return f", half from {low:.2f} to {high:.2f}"
