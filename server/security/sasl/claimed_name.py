"""The name that a client gives in a message of a mechanism, before it has proved anything: what a
fault rule for one principal, and the history of requests, know of a login.

With a delegation token it is the id of the token. No password and no token is returned.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping

from . import oauth_bearer, scram
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
    found = oauth_bearer.FIRST.fullmatch(message)
    auth = None if found is None else oauth_bearer.AUTH.search(found["pairs"])
    parts = [] if auth is None else auth["token"].split(".")
    try:
        claims = json.loads(urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        return str(claims["sub"])
    except (ValueError, RecursionError, LookupError, TypeError):
        return ""


_NAMES: Mapping[str, Callable[[str], str]] = {
    "PLAIN": _of_plain,
    **dict.fromkeys(("SCRAM-SHA-256", "SCRAM-SHA-512"), _of_scram),
    "OAUTHBEARER": _of_bearer,
}
"""By mechanism: the name in the text of its first message."""
