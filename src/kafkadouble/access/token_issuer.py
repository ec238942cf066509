"""An issuer of signed tokens (KIP-768) for a double: its key, the JWK set that brokers read, and
the tokens.

Rules. The key is made with this object, and no file has it: the directory has the public half, and
is removed with this object. Needs the extra `kafkadouble[security]`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kafkadouble.common.errors import UsageError

from .certificates import own_folder

ISSUER, AUDIENCE = "https://issuer.kafkadouble.test", "kafka"
ALGORITHM, KEY_ID = "ES256", "kafkadouble-1"


class TokenIssuer:
    """UsageError without the extra."""

    def __init__(self) -> None:
        try:
            from cryptography.hazmat.primitives.asymmetric import ec  # an extra
            from jwt.algorithms import ECAlgorithm  # an extra
        except ImportError:
            raise UsageError(
                "signed tokens are made by the library PyJWT: pip install 'kafkadouble[security]'"
            ) from None
        self._key = ec.generate_private_key(ec.SECP256R1())
        public = json.loads(ECAlgorithm.to_jwk(self._key.public_key()))
        self.key_set = {"keys": [{**public, "kid": KEY_ID, "alg": ALGORITHM, "use": "sig"}]}
        """The JWK set."""
        folder, self._remove = own_folder(self)
        self._file = folder / "keys.json"
        self._file.write_text(json.dumps(self.key_set), encoding="ascii")

    def config(self) -> dict[str, str]:
        """Kafka's settings for what brokers are to check."""
        return {
            "sasl.oauthbearer.jwks.endpoint.url": self._file.as_uri(),
            "sasl.oauthbearer.expected.audience": AUDIENCE,
            "sasl.oauthbearer.expected.issuer": ISSUER,
        }

    def token(self, claims: Mapping[str, object]) -> str:
        """A token with these claims. They override audience and issuer; UsageError for what is no
        claim."""
        import jwt  # an extra

        payload: dict[str, Any] = {"iss": ISSUER, "aud": AUDIENCE, **claims}
        try:
            return jwt.encode(payload, self._key, algorithm=ALGORITHM, headers={"kid": KEY_ID})
        except (TypeError, ValueError) as problem:
            raise UsageError(f"claims: {problem}") from None

    def close(self) -> None:
        """Removes the file."""
        self._remove()

    def __repr__(self) -> str:
        return f"issuer of tokens with the key {KEY_ID}"
