"""A rule as a sentence, for messages and reports."""

from __future__ import annotations

from typing import Any

from .actions import TYPES
from .dialogue import AS_USUAL, Dialogue
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
"""The text about an action, besides its name and its API."""


MOST_STEPS = 5
"""So many steps of a dialogue are shown."""

UNNAMED = ("api", "peers", "both_ways")
"""Fields of a match that the sentence shows in its own way."""


def sentence(match: Match, action: Any, trigger: Trigger) -> str:
    """For example `fail Produce with NOT_LEADER_OR_FOLLOWER topic 'orders' once`."""
    often = _how_often(trigger, isinstance(action, Dialogue))
    parts = (_what(match, action), _where(match), _further(match), often)
    return " ".join(filter(None, parts))


def _what(match: Match, action: Any) -> str:
    if isinstance(action, Dialogue):
        return f"dialogue for {_api(match)} ({_steps(action)})"
    name = TYPES[type(action)]
    return " ".join(filter(None, (name.replace("_", " "), _api(match), _detail(action))))


def _api(match: Match) -> str:
    return "any request" if match.api == EVERY_API else match.api or ""


def _detail(action: Any) -> str:
    late = f"{AFTER} it is processed" if getattr(action, "when", None) == AFTER else ""
    return " ".join(filter(None, (DETAILS.get(TYPES[type(action)], "").format(action), late)))


def step_text(action: Any) -> str:
    """A step of a dialogue: `fail with NOT_LEADER_OR_FOLLOWER`."""
    if action is None:
        return AS_USUAL
    return " ".join(filter(None, (TYPES[type(action)].replace("_", " "), _detail(action))))


def _steps(dialogue: Dialogue) -> str:
    texts = [step_text(step) for step in dialogue.steps[:MOST_STEPS]]
    more = len(dialogue.steps) - len(texts)
    return ", then ".join([*texts, *([f"{more} more"] if more else [])])


def _further(match: Match) -> str:
    return "also between nodes" if match.peers else "both ways" if match.both_ways else ""


def _where(match: Match) -> str:
    narrowed = {name: value for name, value in given_fields(match).items() if name not in UNNAMED}
    return ", ".join(f"{name} {value!r}" for name, value in narrowed.items())


def _how_often(trigger: Trigger, has_steps: bool) -> str:
    first = f"from the {trigger.on_call}. on" if trigger.on_call > 1 else ""
    often = (
        ""
        if has_steps
        else "every time"
        if trigger.times is None
        else "once"
        if trigger.times == 1
        else f"{trigger.times} times"
    )
    chance = f"with probability {trigger.probability:g}" if trigger.probability is not None else ""
    after = f"after {trigger.after_seconds:g} s" if trigger.after_seconds else ""
    until = f"for {trigger.for_seconds:g} s" if trigger.for_seconds is not None else ""
    return " ".join(filter(None, (first, often, chance, after, until)))
