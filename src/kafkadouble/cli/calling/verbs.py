"""The commands of `kafkadouble ctl`."""

from __future__ import annotations

from kafkadouble.verbs.registry import VERBS
from kafkadouble.verbs.verb import Verb

EVENTS = "events"
"""Follows the requests. It is a command of ctl, and no verb."""


def usable() -> list[Verb]:
    """The verbs of ctl, by subject."""
    found = [each for each in VERBS.values() if each.is_for_json]
    return sorted(found, key=lambda each: each.subject)
