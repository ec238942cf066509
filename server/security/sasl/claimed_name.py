"""The name that a client gives in a message of a mechanism, before it has proved anything: what a
fault rule for one principal, and the history of requests, know of a login.

With a delegation token it is the id of the token. No password and no token is returned.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping

from . import oauth_bearer, scram
from .exchange import SaslFailure
from .plain import TOKENS

LONGEST = 255
"""A longer name is no name of a user, and is not kept."""


def claimed_name(mechanism: str, token: bytes) -> str:
    """The name; empty for a message that has none."""
    name = _NAMES[mechanism](token.decode("utf-8", "replace")) if mechanism in _NAMES else ""
    return name if len(name) <= LONGEST else ""


def _of_plain(message: str) -> str:
    tokens = message.split("\0")
    return tokens[1] if len(tokens) == TOKENS else ""


def _of_scram(message: str) -> str:
    found = scram.FIRST.fullmatch(message)
    return "" if found is None else found["name"].replace("=2C", ",").replace("=3D", "=")


def _of_bearer(message: str) -> str:
    try:
        _, token = oauth_bearer.first_message(message)
        payload = token.split(".")[1]
        claims = json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        name = claims["sub"]
    except (SaslFailure, ValueError, RecursionError, LookupError, TypeError):
        return ""
    return name if isinstance(name, str) else ""


_NAMES: Mapping[str, Callable[[str], str]] = {
    "PLAIN": _of_plain,
    **dict.fromkeys(("SCRAM-SHA-256", "SCRAM-SHA-512"), _of_scram),
    "OAUTHBEARER": _of_bearer,
}
"""By mechanism: the name in the text of its first message."""
