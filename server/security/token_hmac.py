"""The HMAC of a delegation token, which its holder proves (KIP-48)."""

from __future__ import annotations

import hmac


def token_hmac(key: bytes, token_id: str) -> bytes:
    """The HMAC of a token id under the secret key of the cluster."""
    return hmac.digest(key, token_id.encode(), "sha512")
