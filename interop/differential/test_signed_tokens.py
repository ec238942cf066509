"""Signed tokens of OAUTHBEARER on a kafkadouble and on an Apache Kafka, with the keys at one URL:
the same tokens to both, and the same answers, until the same end."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from interop.sasl_servers import SIGNED, sasl_pair
from kafkadouble.server.security.sasl import oauth_bearer
from tests.support import signed_tokens as made
from tests.support.jwks_server import JwksServer, jwks_server
from tests.support.sasl_talk import Address, Talk, plain_token, shake
from tests.support.signed_tokens import jwk, signed
from tests.support.waiting import eventually

pytestmark = pytest.mark.usefixtures("kafka_jars")

MINUTE_MS = 60_000
Now = int
"""The time in seconds."""

KEYS = (
    jwk(made.RSA, kid="rsa"),
    jwk(made.EC, kid="ec"),
    jwk(made.EC_384, kid="ec-384"),
    jwk(made.ED, kid="ed"),
    jwk(made.SMALL_RSA, kid="small"),
)
OF_CLIENTS: Mapping[str, dict[str, Any]] = {
    "valid": {},
    "for several audiences": {"aud": ["x", made.AUDIENCE]},
    "for another audience": {"aud": "others"},
    "for no audience": {"aud": None},
    "of another issuer": {"iss": "https://others.example"},
    "of no issuer": {"iss": None},
    "for no one": {"sub": None},
    "for a blank": {"sub": " "},
    "for a number": {"sub": 5},
    "for a name with blanks": {"sub": " ann "},
    "with a scope": {"scope": "a b"},
    "with scopes": {"scope": ["a", "b"]},
    "with a scope twice": {"scope": ["a", "a"]},
    "with a blank scope": {"scope": " "},
    "with a scope that is a number": {"scope": 5},
    "without exp": {"exp": None},
    "without iat": {"iat": None},
    "with a text as exp": {"exp": "soon"},
    "with a negative iat": {"iat": -1},
    "with an unknown key id": {"key_id": "unknown"},
    "with the key id of another type": {"key_id": "ec"},
    "without a key id": {"key_id": None},
    "by another key": {"key": made.STRANGER},
    "by a small key": {"key": made.SMALL_RSA, "key_id": "small"},
    "RS512": {"algorithm": "RS512"},
    "PS256": {"algorithm": "PS256"},
    "ES256": {"key": made.EC, "algorithm": "ES256", "key_id": "ec"},
    "ES256 without a key id": {"key": made.EC, "algorithm": "ES256", "key_id": None},
    "ES384": {"key": made.EC_384, "algorithm": "ES384", "key_id": "ec-384"},
    "EdDSA": {"key": made.ED, "algorithm": "EdDSA", "key_id": "ed"},
}
IN_TIME: Mapping[str, Mapping[str, int]] = {
    "expired": {"iat": -600, "exp": -60},
    "expired within the skew": {"iat": -600, "exp": -15},
    "not valid yet": {"nbf": 60},
    "not valid yet, within the skew": {"nbf": 15},
    "issued in the future": {"iat": 300},
    "that expires before it is issued": {"iat": 300, "exp": 200},
    "that expires before it is valid": {"exp": 10, "nbf": 20},
}
"""Times of a token, in seconds from now."""


def by_hmac(now: Now) -> str:
    """A token whose secret is the public key, as if that were a password."""
    claims = {"sub": "ann", "aud": made.AUDIENCE, "iss": made.ISSUER, "iat": now, "exp": now + 600}
    text = ".".join(_part(json.dumps(each).encode()) for each in ({"alg": "HS256", "kid": "rsa"}, claims))
    secret = made.RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return f"{text}.{_part(hmac.digest(secret, text.encode(), hashlib.sha256))}"


def _part(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def without_signature(now: Now) -> str:
    return oauth_bearer.unsecured_token({"sub": "ann", "aud": made.AUDIENCE, "iss": made.ISSUER}, now, 600)


def _of(given: Mapping[str, Any]) -> Callable[[Now], str]:
    return lambda now: signed(now, **given)


def _at(offsets: Mapping[str, int]) -> Callable[[Now], str]:
    return lambda now: signed(now, **{name: now + offset for name, offset in offsets.items()})  # type: ignore[arg-type]


TOKENS: dict[str, Callable[[Now], str]] = {
    **{name: _of(given) for name, given in OF_CLIENTS.items()},
    **{name: _at(offsets) for name, offsets in IN_TIME.items()},
    "signed by the public key": by_hmac,
    "without a signature": without_signature,
    "whose signature is cut": lambda now: signed(now)[:-4],
    "without its last part": lambda now: signed(now).rpartition(".")[0],
    "that is none": lambda now: "a.b.c",
    "in one part": lambda now: "abc",
}
VALID = {
    *("valid", "for several audiences", "for a name with blanks", "with a scope", "with scopes"),
    *(
        "with a scope that is a number",
        "without a key id",
        "RS512",
        "PS256",
        "ES256",
        "ES256 without a key id",
        "ES384",
    ),
    *("EdDSA", "not valid yet, within the skew", "issued in the future"),
}
"""Those with which a client is served. One that has expired within the skew authenticates, and its
session has ended."""


@pytest.fixture(scope="module")
def keys() -> Iterator[JwksServer]:
    with jwks_server(json.dumps({"keys": KEYS}).encode()) as found:
        yield found


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, keys: JwksServer) -> Iterator[tuple[Address, Address]]:
    with sasl_pair(tmp_path_factory.mktemp("pair"), keys.url) as (double, kafka):
        yield double[SIGNED], kafka[SIGNED]


def outcome(address: Address, token: str) -> list[Any]:
    """What a client with this token is answered, and then."""
    talk = Talk(address)
    with talk.socket:
        shake(talk, "OAUTHBEARER")
        plain_token(talk, next(oauth_bearer.client_exchange(token)))
        text = talk.answer_bytes() if talk.last.get("errorCode") == "NONE" else b""
        if text:
            plain_token(talk, b"\x01")
        talk.ask("Metadata", 12, topics=[])
    talk.outcomes[-1] = "closed" if talk.outcomes[-1] == "closed" else "served"
    return [text, *talk.outcomes]


def lifetime_ms(found: list[Any]) -> int:
    """The lifetime of the session, which is that of the token, taken out of an outcome."""
    return max(int(each.pop("sessionLifetimeMs", 0)) for each in found if isinstance(each, dict))


@pytest.mark.filterwarnings("ignore:The RSA key is 1024 bits long")
@pytest.mark.parametrize("name", TOKENS)
def test_a_token_is_answered_alike(pair: tuple[Address, Address], name: str) -> None:
    token = TOKENS[name](int(time.time()))
    ours, theirs = (outcome(address, token) for address in pair)
    assert abs(lifetime_ms(ours) - lifetime_ms(theirs)) < MINUTE_MS
    assert ours == theirs
    assert (ours[-1] == "served") == (name in VALID)


def test_a_new_key_is_fetched_by_both(pair: tuple[Address, Address], keys: JwksServer) -> None:
    """The first token that names it is refused."""
    token = signed(int(time.time()), made.STRANGER, key_id="new")
    keys.body = json.dumps({"keys": [*KEYS, jwk(made.STRANGER, kid="new")]}).encode()
    for address in pair:
        assert outcome(address, token)[-1] == "closed"
        eventually(partial(outcome, address, token), lambda found: found[-1] == "served")
