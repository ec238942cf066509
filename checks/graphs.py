"""Directed graphs of names: circles, and the order in which the fewest arrows point upward."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

Graph = Mapping[str, Set[str]]
"""What each name points to."""


def graph_of(arrows: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """The graph with these arrows."""
    made: dict[str, set[str]] = {}
    for start, end in arrows:
        made.setdefault(start, set()).add(end)
        made.setdefault(end, set())
    return made


def circles(graph: Graph) -> list[list[str]]:
    """The names that reach one another, the largest circle first (Tarjan's components)."""
    found: list[list[str]] = []
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    held: set[str] = set()

    def enter(name: str) -> None:
        index[name] = lowest[name] = len(index)
        stack.append(name)
        held.add(name)

    def leave(name: str) -> None:
        if lowest[name] == index[name]:
            at = stack.index(name)
            found.append(sorted(stack[at:]))
            held.difference_update(stack[at:])
            del stack[at:]

    for root in sorted(graph):
        if root in index:
            continue
        enter(root)
        path = [(root, iter(sorted(graph[root])))]
        while path:
            name, ends = path[-1]
            for end in ends:
                if end not in index:
                    enter(end)
                    path.append((end, iter(sorted(graph[end]))))
                    break
                if end in held:
                    lowest[name] = min(lowest[name], index[end])
            else:
                path.pop()
                leave(name)
                if path:
                    above = path[-1][0]
                    lowest[above] = min(lowest[above], lowest[name])
    return sorted((each for each in found if len(each) > 1), key=lambda each: (-len(each), each))


def upward(graph: Graph) -> list[tuple[str, str]]:
    """The arrows that point upward in an order in which they are few: a greedy order (Eades, Lin
    and Smyth), made better by moving one name at a time while that helps."""
    return sorted(arrow for names in circles(graph) for arrow in _against(_better(_greedy(names, graph), graph), graph))


def _greedy(names: Iterable[str], graph: Graph) -> list[str]:
    """The highest first."""
    left = set(names)
    first: list[str] = []
    last: list[str] = []
    while left:
        out = {name: len(graph[name] & left - {name}) for name in left}
        into = {name: sum(name in graph[other] for other in left if other != name) for name in left}
        if sinks := sorted(name for name in left if not out[name]):
            last[:0] = sinks
            left -= {*sinks}
        else:
            top = max(sorted(left), key=lambda name: out[name] - into[name])
            first.append(top)
            left.remove(top)
    return first + last


def _better(order: list[str], graph: Graph) -> list[str]:
    cost = len(_against(order, graph))
    improved = True
    while improved:
        improved = False
        for name in sorted(order):
            rest = [each for each in order if each != name]
            tried = ([*rest[:at], name, *rest[at:]] for at in range(len(order)))
            best = min(tried, key=lambda each: len(_against(each, graph)))
            if (of_best := len(_against(best, graph))) < cost:
                order, cost, improved = best, of_best, True
    return order


def _against(order: list[str], graph: Graph) -> list[tuple[str, str]]:
    place = {name: at for at, name in enumerate(order)}
    return [(name, end) for name in order for end in graph[name] if end in place and place[end] < place[name]]


def layers(graph: Graph) -> int:
    """The length of the longest path, when the arrows that point upward are left out."""
    left_out = {*upward(graph)}
    kept = {name: {end for end in ends if end != name and (name, end) not in left_out} for name, ends in graph.items()}
    heights: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in heights:
            heights[name] = 1 + max((height(end) for end in kept[name]), default=0)
        return heights[name]

    return max(map(height, sorted(kept)), default=0)
