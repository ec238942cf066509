"""Signed tokens of OAUTHBEARER: which are valid, why others are refused, and settings that cannot
be."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import sys
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.requests.timers import Timers
from kafkadouble.server.security.sasl import oauth_bearer
from kafkadouble.server.security.sasl.bearer_validators import validator_of
from kafkadouble.server.security.sasl.exchange import Authenticated, SaslFailure
from kafkadouble.server.security.sasl.oauth_bearer import BearerToken, TokenRefused, Validator
from kafkadouble.server.security.sasl.remote_keys import KeyEndpoint, RemoteKeySet, RemoteKeySets
from kafkadouble.wire.errors import UsageError
from tests.support import signed_tokens as made
from tests.support.signed_tokens import jwk, jwk_set, signed

NOW_S = 1_700_000_000
REFRESH = "sasl.oauthbearer.jwks.endpoint.refresh.ms"
URL = "listener.name.l.oauthbearer.sasl.oauthbearer.jwks.endpoint.url"


class Store:
    """The time, and keys behind URLs, which are those of no fetch here."""

    token_check = None

    def __init__(self) -> None:
        self.timers = Timers()
        self.sets = RemoteKeySets(self.timers)
        self.time = NOW_S * 1000

    def now(self) -> int:
        return self.time

    def remote_keys(self, endpoint: KeyEndpoint) -> RemoteKeySet:
        return self.sets.at(endpoint, self.time)


def validator(url: str, **more: str) -> Validator:
    given = {**made.settings_of(url, "l"), **{name.replace("_", "."): text for name, text in more.items()}}
    return validator_of(made.HANDLER, Settings(given), "L", {}, Store())


@pytest.fixture
def url(tmp_path: Path) -> str:
    return jwk_set(tmp_path / "keys.json")


@pytest.mark.parametrize(
    ("key", "algorithm", "key_id"),
    [
        *[(made.RSA, f"{family}{bits}", "rsa") for family in ("RS", "PS") for bits in (256, 384, 512)],
        (made.RSA, "RS256", None),
        (made.EC, "ES256", "ec"),
        (made.EC, "ES256", None),
        (made.EC_384, "ES384", "ec-384"),
        (made.ED, "EdDSA", "ed"),
    ],
)
def test_a_token_by_every_kind_of_key(url: str, key: Any, algorithm: str, key_id: str | None) -> None:
    assert validator(url)(signed(NOW_S, key, algorithm, key_id)) == BearerToken("ann", (NOW_S + 600) * 1000)


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": ["x", "shop"]},
        {"exp": NOW_S - 29, "iat": NOW_S - 60},
        {"nbf": NOW_S + 30},
        {"iat": NOW_S + 300},
        {"exp": NOW_S + 600.7},
        {"scope": "a b"},
        {"scope": ["a", "b"]},
        {"scope": 5},
        {"sub": " ann "},
    ],
)
def test_signed_token_at_its_time_limits_is_valid(url: str, claims: dict[str, object]) -> None:
    assert validator(url)(signed(NOW_S, **claims)).name == "ann"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"exp": NOW_S - 30, "iat": NOW_S - 60}, "has expired"),
        ({"nbf": NOW_S + 31}, "not valid yet"),
        ({"iat": NOW_S + 700}, "expires before it begins"),
        ({"exp": NOW_S + 20, "nbf": NOW_S + 25}, "expires before it begins"),
        ({"exp": None}, "not every claim"),
        ({"iat": None}, "not every claim"),
        ({"exp": "soon"}, "claim exp of the token is no time"),
        ({"exp": True}, "claim exp of the token is no time"),
        ({"exp": 1e300}, "claim exp of the token is no time"),
        ({"exp": float("inf")}, "claim exp of the token is no time"),
        ({"nbf": float("nan")}, "claim nbf of the token is no time"),
        ({"iat": -1}, "no time of issue"),
        ({"aud": "PLANTED"}, "another audience"),
        ({"aud": None}, "not every claim"),
        ({"aud": 5}, "another audience"),
        ({"iss": "https://PLANTED"}, "another issuer"),
        ({"iss": None}, "not every claim"),
        ({"sub": None}, "names no principal"),
        ({"sub": "  "}, "names no principal"),
        ({"sub": 5}, "no valid JWT"),
        ({"scope": ["a", "a"]}, "scopes"),
        ({"scope": [1]}, "scopes"),
        ({"scope": " "}, "scopes"),
    ],
)
def test_claims_that_are_refused(url: str, claims: dict[str, object], reason: str) -> None:
    with pytest.raises(TokenRefused, match=reason) as refused:
        validator(url)(signed(NOW_S, **claims))  # type: ignore[arg-type]
    assert "PLANTED" not in str(refused.value)
    assert refused.value.as_json() == '{"status":"invalid_token"}'


def part(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def by_hmac(header: dict[str, object], secret: bytes) -> str:
    """A token whose secret is what everyone knows, such as a public key."""
    text = ".".join(part(json.dumps(each).encode()) for each in (header, {"sub": "ann"}))
    return f"{text}.{part(hmac.digest(secret, text.encode(), hashlib.sha256))}"


@pytest.mark.parametrize(
    "twice",
    ['"sub": "bob", ', '"other": {"a": 1, "a": 2}, ', '"other": [{"a": 1, "a": 2}], '],
    ids=["sub", "in", "list"],
)
def test_token_with_a_repeated_claim_is_refused(url: str, twice: str) -> None:
    claims = {"sub": "ann", "aud": made.AUDIENCE, "iss": made.ISSUER, "iat": NOW_S, "exp": NOW_S + 600}
    payload = "{" + twice + json.dumps(claims)[1:]
    token = jwt.PyJWS().encode(payload.encode(), made.RSA, "RS256", {"kid": "rsa"})
    with pytest.raises(TokenRefused, match="a name is twice in the token"):
        validator(url)(token)


@pytest.mark.parametrize("encoding", [Encoding.PEM, Encoding.DER])
@pytest.mark.parametrize("key_id", ["rsa", "secret"])
def test_a_public_key_is_no_secret_of_an_hmac(tmp_path: Path, encoding: Encoding, key_id: str) -> None:
    """Not even if the set has a symmetric key."""
    secret = {"kty": "oct", "k": part(b"s" * 32), "kid": "secret"}
    url = jwk_set(tmp_path / "keys.json", jwk(made.RSA, kid="rsa"), secret)
    public = made.RSA.public_key().public_bytes(encoding, PublicFormat.SubjectPublicKeyInfo)
    for algorithm in ("HS256", "hs256", "none", "RS256"):
        for text in (public, b"s" * 32):
            with pytest.raises(TokenRefused, match=r"algorithm|signature"):
                validator(url)(by_hmac({"alg": algorithm, "kid": key_id if algorithm != "RS256" else "rsa"}, text))


@pytest.mark.parametrize(
    ("key", "algorithm", "key_id", "reason"),
    [
        (made.STRANGER, "RS256", "rsa", "signature"),
        (made.STRANGER, "RS256", "unknown", "not in the JWK set"),
        (made.RSA, "RS256", "ec", "not in the JWK set"),
        (made.EC, "ES256", "ec-384", "not in the JWK set"),
    ],
)
def test_a_wrong_key(url: str, key: Any, algorithm: str, key_id: str, reason: str) -> None:
    with pytest.raises(TokenRefused, match=reason):
        validator(url)(signed(NOW_S, key, algorithm, key_id))


def test_texts_that_are_no_token(url: str) -> None:
    check, right = validator(url), signed(NOW_S)
    header, claims, signature = right.split(".")
    deep = part(b"[" * 100_000)
    texts = ["", ".", "..", "...", right + ".x", f"{header}.{claims}.", f"{header}..{signature}", "x" * 500_000]
    texts += [f"{deep}.{claims}.{signature}", f"{header}.{deep}.{signature}", f"{header}.{claims}.{signature[:-4]}"]
    texts += [
        f"{part(given)}.{claims}.{signature}"
        for given in (b"[]", b"{}", b'{"alg":5}', b"\xff", b'{"alg":"RS256","kid":[]}')
    ]
    texts.append(f"{part(json.dumps({'alg': 'RS256', 'kid': 'k' * 300_000}).encode())}.{claims}.{signature}")
    texts.append(f"{part(json.dumps({'alg': 'RS256', 'crit': ['x'], 'x': 1}).encode())}.{claims}.{signature}")
    for text in texts:
        with pytest.raises(TokenRefused):
            check(text)
    assert check(right).name == "ann"


def test_keys_that_cannot_check_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    wrong: list[dict[str, Any]] = [
        jwk(made.RSA, use="enc"),
        jwk(made.RSA, key_ops=["encrypt"]),
        jwk(made.SMALL_RSA),
        {"kty": "RSA", "n": "AQAB"},
        {"kty": "RSA", "n": 5, "e": []},
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"},
        {"kty": ["EC"], "crv": {}},
        {},
    ]
    with pytest.raises(UsageError, match="has no key that can check a signature"):
        validator(jwk_set(file, *wrong))
    assert validator(jwk_set(file, *wrong, jwk(made.RSA, kid="rsa")))(signed(NOW_S)).name == "ann"


def test_of_two_keys_the_one_of_the_algorithm_is_taken(tmp_path: Path) -> None:
    url = jwk_set(tmp_path / "keys.json", jwk(made.STRANGER, alg="RS512"), jwk(made.RSA, alg="RS256"))
    assert validator(url)(signed(NOW_S, key_id=None)).name == "ann"


def test_settings_of_claims_and_skew(url: str) -> None:
    names = {"sasl_oauthbearer_sub_claim_name": "email", "sasl_oauthbearer_scope_claim_name": "scp"}
    check = validator(url, **names, sasl_oauthbearer_clock_skew_seconds="0")
    assert check(signed(NOW_S, email="ann@x", scope=["a", "a"])).name == "ann@x"
    for claims in ({}, {"email": "a", "scp": [""]}, {"email": "a", "exp": NOW_S, "iat": NOW_S}):
        with pytest.raises(TokenRefused):
            check(signed(NOW_S, **claims))


def test_token_audience_and_issuer_may_be_unchecked(url: str) -> None:
    arguments = {f"sasl_oauthbearer_expected_{name}": "" for name in ("audience", "issuer")}
    allowed = {f"sasl_oauthbearer_allow_unverified_{name}": "true" for name in ("audience", "issuer")}
    check = validator(url, **arguments, **allowed)
    assert check(signed(NOW_S, aud="any", iss=None)).name == "ann"


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({URL: ""}, "jwks.endpoint.url is missing"),
        ({URL: "ftp://issuer.example/keys"}, "is no http, https or file URL"),
        ({URL: "https:///keys"}, "is no http, https or file URL"),
        ({URL: "http://issuer.example/keys", REFRESH: "0"}, "refresh.ms must be positive"),
        ({URL: "file:///no/such"}, "/no/such cannot be read: No such file"),
        ({"sasl.oauthbearer.expected.audience": ""}, "expected.audience is missing.*allow.unverified.audience=true"),
        ({"sasl.oauthbearer.expected.issuer": ""}, "expected.issuer is missing.*allow.unverified.issuer=true"),
        ({"sasl.oauthbearer.sub.claim.name": " "}, "sub.claim.name is blank"),
        ({"sasl.oauthbearer.jwt.validator.class": "x.Own"}, "x.Own is not known"),
    ],
)
def test_settings_that_cannot_be(url: str, more: dict[str, str], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        validator_of(made.HANDLER, Settings({**made.settings_of(url, "l"), **more}), "L", {}, Store())


@pytest.mark.parametrize("text", ["PLANTED", "[]", "{}", '{"keys": 5}', '{"keys": []}', "[" * 100_000])
def test_a_file_that_is_no_set(tmp_path: Path, text: str) -> None:
    file = tmp_path / "keys.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=r"keys\.json") as refused:
        validator(file.as_uri())
    assert "PLANTED" not in str(refused.value)


@pytest.mark.parametrize("name", ["x.Other", f"{made.PACKAGE}.secured.OAuthBearerValidatorCallbackHandler"])
def test_other_classes_are_refused(url: str, name: str) -> None:
    with pytest.raises(UsageError, match="is not known"):
        validator_of(name, Settings(made.settings_of(url, "l")), "L", {}, Store())


@pytest.mark.parametrize("library", ["jwt", "h11", "cryptography"])
def test_a_missing_library_is_named(url: str, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UsageError, match=r"PyJWT: pip install 'kafkadouble\[security\]'"):
        validator(url)


def test_sasl_exchange_with_a_signed_token_succeeds(url: str) -> None:
    def server(token: str) -> tuple[Any, bytes]:
        exchange = oauth_bearer.server_exchange(validator(url))
        next(exchange)
        return exchange, next(oauth_bearer.client_exchange(token))

    exchange, first = server(signed(NOW_S))
    with pytest.raises(StopIteration) as end:
        exchange.send(first)
    assert end.value.value == Authenticated("ann", expires_at=(NOW_S + 600) * 1000)
    exchange, first = server(signed(NOW_S, made.STRANGER))
    assert exchange.send(first) == b'{"status":"invalid_token"}'
    with pytest.raises(SaslFailure) as failure:
        exchange.send(b"\x01")
    assert failure.value.message == '{"status":"invalid_token"}'
    assert failure.value.reason == "the signature of the token is wrong"


def test_a_file_that_was_modified_is_read_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "keys.json"
    check = validator(jwk_set(file, jwk(made.RSA, kid="a")))

    def is_accepted(key_id: str) -> bool:
        try:
            return bool(check(signed(NOW_S, key_id=key_id)))
        except TokenRefused:
            return False

    assert (is_accepted("a"), is_accepted("b")) == (True, False)
    jwk_set(file, jwk(made.RSA, kid="b"))
    os.utime(file, ns=(0, 1))
    assert (is_accepted("a"), is_accepted("b")) == (False, True)
    file.unlink()
    assert not is_accepted("b")
    assert "keys.json cannot be read: No such file" in caplog.text
    jwk_set(file, jwk(made.RSA, kid="a"))
    assert is_accepted("a")
