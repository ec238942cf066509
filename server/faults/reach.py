"""Refuses rules that no request can ever match, or whose action could never be done."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages.json_form import completed
from kafkadouble.messages.message import Message
from kafkadouble.wire.errors import UsageError, WireError
from kafkadouble.wire.wording import GivenParameter

from ..apis.member_names import names_members
from ..apis.part_lists import kinds_of
from ..apis.row import ServedApi
from ..apis.served import CONTROLLER_TABLE, TABLE
from ..metadata.topic_names import problem_with_name
from ..requests.origin import NODE_APIS
from . import field_path, stale
from .actions import TYPES, ChangeField, CorruptRecords, Respond, StaleMetadata
from .dialogue import Dialogue
from .field_kinds import EVERY_API
from .match import Match
from .rule import Rule

ONLY_FOR: dict[type[Any], tuple[str, ...]] = {CorruptRecords: ("Fetch",), StaleMetadata: stale.APIS}
"""The APIs of an action that is not for every API."""

SIZE = 4
"""Of the field with the size of a frame, in bytes."""

OF_ONE_API = (Respond, ChangeField)


def check_reach(rule: Rule) -> None:
    """Raises UsageError for a rule for requests that could never apply."""
    actions = filter(None, rule.action.steps) if isinstance(rule.action, Dialogue) else [rule.action]
    for action in actions:
        _check_action(rule.match, action)


def _check_action(match: Match, action: Any) -> None:
    name = TYPES[type(action)]
    if match.topic is not None and (problem := problem_with_name(match.topic)):
        raise UsageError(f"no topic can have the name {match.topic!r}: {problem}")
    if (apis := ONLY_FOR.get(type(action))) and match.api not in apis:
        raise UsageError(f"{name} is for {' and '.join(apis)}, not for {match.api}")
    if match.api == EVERY_API:
        if isinstance(action, OF_ONE_API):
            raise UsageError(f"{name} is for one API, not for *")
        return
    served = _served(match.api)
    if served.api.key in NODE_APIS and not match.peers:
        peers = GivenParameter("peers", True)
        raise UsageError(f"only nodes send {match.api}, and a rule applies to clients: give {{peers}}", peers=peers)
    _check_match(match, served)
    if isinstance(action, ChangeField):
        field_path.check(served.api.response, action.path, action.value)
    if isinstance(action, Respond):
        _check_response(action.body, served.api.response)


def _served(api: str | None) -> ServedApi:
    for served in (*TABLE, *CONTROLLER_TABLE):
        if served.name == api:
            return served
    raise UsageError(f"{api} is not served here, so that no rule can apply to it")


def _check_match(match: Match, served: ServedApi) -> None:
    for kind in match.scope():
        if kind not in kinds_of(served.name, served.api.request):
            raise UsageError(f"requests of {match.api} name no {kind.replace('_', ' ')}")
    if match.member_id is not None and not names_members(served.api.request):
        raise UsageError(f"requests of {match.api} name no member")
    version = match.version
    if version is not None and not served.lowest <= version <= served.highest:
        raise UsageError(f"{match.api} is served in versions {served.lowest} to {served.highest}, not {version}")


def _check_response(body: Any, cls: type[Message]) -> None:
    """The body must fit a version. Bytes are free, but they must not be a frame by mistake."""
    versions = range(cls.versions[1], cls.versions[0] - 1, -1)
    if isinstance(body, bytes):
        if _is_frame(body) and not any(_is_read(cls, body, version) for version in versions):
            raise UsageError(
                "these bytes are a frame with its size: give the body alone, which begins after the header"
            )
        return
    problem = None
    for version in versions:
        try:
            cls.from_json(completed(cls, body, version), version).encode(version)
        except UsageError as error:
            problem = problem or error
        else:
            return
    raise problem or UsageError(f"{cls.__name__} has no version")


def _is_frame(body: bytes) -> bool:
    """Whether the bytes begin with their own size, as a frame does."""
    return len(body) > SIZE and int.from_bytes(body[:SIZE], "big") == len(body) - SIZE


def _is_read(cls: type[Message], body: bytes, version: int) -> bool:
    try:
        cls.decode(body, version)
    except WireError:
        return False
    return True
