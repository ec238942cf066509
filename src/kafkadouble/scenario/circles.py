"""Finds the steps of a scenario that would produce for each other without an end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .record_trigger import TOPIC
from .step import ScenarioStep


def check_circles(steps: Iterable[ScenarioStep]) -> None:
    """Refuses steps that would produce for each other without an end: those from whose topics
    records are led back to them. A step with `times` leads to an end."""
    leads = [step for step in steps if step.on_record and step.on_record.times is None and TOPIC not in step.taken]
    while leads:
        topics = {step.on_record.topic for step in leads if step.on_record}
        going_on = [step for step in leads if step.call.given[TOPIC] in topics]
        if len(going_on) == len(leads):
            raise _circle(leads)
        leads = going_on


def _circle(steps: list[ScenarioStep]) -> Exception:
    """The error for steps each of which leads to another one of them."""
    by_topic: Mapping[str, ScenarioStep] = {step.on_record.topic: step for step in steps if step.on_record}
    way = [next(iter(by_topic))]
    while (topic := by_topic[way[-1]].call.given[TOPIC]) not in way:
        way.append(topic)
    call = by_topic[topic].call
    names = " to ".join([*way[way.index(topic) :], topic])
    problem = f"records would go from {names} without an end: give on_record times"
    return call.document.problem((*call.path, "on_record"), problem)
