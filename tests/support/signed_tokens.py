"""Keys and signed tokens for tests of OAUTHBEARER."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

RSA = rsa.generate_private_key(65537, 2048)
SMALL_RSA = rsa.generate_private_key(65537, 1024)
EC = ec.generate_private_key(ec.SECP256R1())
EC_384 = ec.generate_private_key(ec.SECP384R1())
ED = ed25519.Ed25519PrivateKey.generate()
STRANGER = rsa.generate_private_key(65537, 2048)
"""A key that is in no set."""

PACKAGE = "org.apache.kafka.common.security.oauthbearer"
HANDLER = f"{PACKAGE}.OAuthBearerValidatorCallbackHandler"
MODULE = f"{PACKAGE}.OAuthBearerLoginModule required;"
AUDIENCE, ISSUER = "shop", "https://issuer.example"


def jwk(key: Any, **more: object) -> dict[str, Any]:
    """The entry of a public key in a set."""
    kinds: tuple[tuple[type, Any], ...] = (
        (rsa.RSAPrivateKey, RSAAlgorithm),
        (ec.EllipticCurvePrivateKey, ECAlgorithm),
        (ed25519.Ed25519PrivateKey, OKPAlgorithm),
    )
    algorithm = next(found for kind, found in kinds if isinstance(key, kind))
    return {**algorithm.to_jwk(key.public_key(), as_dict=True), **more}


def jwk_set(file: Path, *keys: dict[str, Any]) -> str:
    """Writes a set, and returns its URL."""
    given = keys or (jwk(RSA, kid="rsa"), jwk(EC, kid="ec"), jwk(EC_384, kid="ec-384"), jwk(ED, kid="ed"))
    file.write_text(json.dumps({"keys": given}), "utf-8")
    return file.as_uri()


def jwk_of(key_id: str) -> bytes:
    """A set with one key."""
    return json.dumps({"keys": [jwk(RSA, kid=key_id)]}).encode()


def signed(now_s: int, key: Any = RSA, algorithm: str = "RS256", key_id: str | None = "rsa", **claims: object) -> str:
    """A token that is right but for what is given; a claim that is None is left out."""
    payload = {"sub": "ann", "aud": AUDIENCE, "iss": ISSUER, "iat": now_s, "exp": now_s + 600, **claims}
    headers = {} if key_id is None else {"kid": key_id}
    given = {name: value for name, value in payload.items() if value is not None}
    return jwt.PyJWS().encode(json.dumps(given).encode(), key, algorithm, headers)


def settings_of(url: str, listener: str) -> dict[str, str]:
    """The settings of a listener that takes signed tokens."""
    prefix = f"listener.name.{listener}."
    return {
        f"{prefix}sasl.enabled.mechanisms": "OAUTHBEARER",
        f"{prefix}oauthbearer.sasl.jaas.config": MODULE,
        f"{prefix}oauthbearer.sasl.server.callback.handler.class": HANDLER,
        f"{prefix}oauthbearer.sasl.oauthbearer.jwks.endpoint.url": url,
        "sasl.oauthbearer.expected.audience": f"other,{AUDIENCE}",
        "sasl.oauthbearer.expected.issuer": ISSUER,
    }
