"""The server's part of a nonce of SCRAM."""

from __future__ import annotations

from kafkadouble.server.security.sasl.credential_store import CredentialStore
from tests.server.harness import Harness


def test_a_nonce_does_not_come_again_with_the_same_seed() -> None:
    """A login that was seen once could be sent again to a node that starts again."""
    stores = [CredentialStore(Harness(seed=1).node) for _ in range(2)]
    nonces = [store.nonce() for store in stores for _ in range(3)]
    assert len(set(nonces)) == len(nonces)
