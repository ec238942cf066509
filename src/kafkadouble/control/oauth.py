"""The token endpoint of a double, and the keys of its issuer (RFC 6749, section 4.4; RFC 7517).

Rules. A client gets a token for its id, in the header or in the form, as Kafka's clients send it.
If the double has a user of this name, the secret is its password; any other id may have any secret.
These routes need no token of the control plane: a client has none.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote_plus

if TYPE_CHECKING:
    from starlette.requests import Request

    from kafkadouble.verbs.double_api import DoubleApi

    from .http.bodies import BodyReader


LIFETIME_S = 3600


class OAuthAnswer(NamedTuple):
    """The status, and the object in the body."""

    status: int
    value: Any


class OAuthRoute(NamedTuple):
    """A route. `answer` may raise ControlProblem."""

    method: str
    path: str
    summary: str
    answer: Callable[[DoubleApi, Request, BodyReader], Awaitable[OAuthAnswer]]


async def _token(kafka: DoubleApi, request: Request, bodies: BodyReader) -> OAuthAnswer:
    form = await bodies.form(request)
    if form.get("grant_type") != "client_credentials":
        return OAuthAnswer(400, {"error": "unsupported_grant_type"})
    client, secret = _of_header(request.headers.get("authorization", "")) or _of_form(form)
    if not client or not kafka.is_client(client, secret):
        return OAuthAnswer(401, {"error": "invalid_client"})
    scope = {"scope": form["scope"]} if form.get("scope") else {}
    token = kafka.bearer_token(client, LIFETIME_S * 1000, claims=scope)
    return OAuthAnswer(200, {"access_token": token, "token_type": "Bearer", "expires_in": LIFETIME_S, **scope})


def _of_header(text: str) -> tuple[str, str] | None:
    scheme, _, given = text.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, _, secret = base64.b64decode(given.strip(), validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return "", ""
    return unquote_plus(name), unquote_plus(secret)


def _of_form(form: dict[str, str]) -> tuple[str, str]:
    return form.get("client_id", ""), form.get("client_secret", "")


async def _keys(kafka: DoubleApi, request: Request, bodies: BodyReader) -> OAuthAnswer:
    return OAuthAnswer(200, kafka.token_keys)


OAUTH = (
    OAuthRoute("POST", "/oauth/token", "A signed token of OAUTHBEARER for a client.", _token),
    OAuthRoute("GET", "/oauth/keys", "The JWK set with which signed tokens are checked.", _keys),
)
