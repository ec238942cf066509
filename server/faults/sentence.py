"""A rule as a sentence, for messages and reports."""

from __future__ import annotations

from typing import Any

from .actions import TYPES
from .field_kinds import AFTER, EVERY_API, given_fields
from .match import Match
from .trigger import Trigger

DETAILS = {
    "fail": "with {0.error}",
    "delay": "by {0.seconds:g} s",
    "throttle": "by {0.seconds:g} s",
    "change_field": "{0.path} to {0.value!r}",
    "cut_frame": "to {0.bytes} bytes",
    "short_frame": "to {0.bytes} bytes",
    "oversized_frame": "of {0.bytes} bytes",
    "slow_frame": "with {0.bytes_per_second} bytes per second",
    "latency": "of {0.seconds:g} s",
    "bandwidth": "of {0.bytes_per_second} bytes per second",
    "slice_frames": "to {0.bytes} bytes",
    "reset_after": "{0.bytes} bytes",
    "slow_close": "by {0.seconds:g} s",
    "disk_error": "on {0.on}",
    "disk_slow": "by {0.seconds:g} s",
}
"""What is said of an action besides its name and its API."""


UNNAMED = ("api", "peers", "both_ways")
"""Fields of a match that the sentence shows in its own way."""


def sentence(match: Match, action: Any, trigger: Trigger) -> str:
    """For example `fail Produce with NOT_LEADER_OR_FOLLOWER topic 'orders' once`."""
    parts = (_what(match, action), _where(match), _further(match), _how_often(trigger))
    return " ".join(filter(None, parts))


def _what(match: Match, action: Any) -> str:
    name = TYPES[type(action)]
    api = "any request" if match.api == EVERY_API else match.api or ""
    late = f" {AFTER} it is processed" if getattr(action, "when", None) == AFTER else ""
    return " ".join(filter(None, (name.replace("_", " "), api, DETAILS.get(name, "").format(action)))) + late


def _further(match: Match) -> str:
    return "also between nodes" if match.peers else "both ways" if match.both_ways else ""


def _where(match: Match) -> str:
    narrowed = {name: value for name, value in given_fields(match).items() if name not in UNNAMED}
    return ", ".join(f"{name} {value!r}" for name, value in narrowed.items())


def _how_often(trigger: Trigger) -> str:
    first = f"from the {trigger.on_call}. on" if trigger.on_call > 1 else ""
    often = "every time" if trigger.times is None else "once" if trigger.times == 1 else f"{trigger.times} times"
    chance = f"with probability {trigger.probability:g}" if trigger.probability is not None else ""
    after = f"after {trigger.after_seconds:g} s" if trigger.after_seconds else ""
    until = f"for {trigger.for_seconds:g} s" if trigger.for_seconds is not None else ""
    return " ".join(filter(None, (first, often, chance, after, until)))
