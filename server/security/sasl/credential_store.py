"""The store in which mechanisms find keys. SCRAM: those of users and the delegation tokens in the
metadata of the cluster (KIP-554, KIP-48). OAUTHBEARER: those that the node has fetched (KIP-768).

Rules. The keys of a token are made from its HMAC, which is made from its id and the secret key of
the cluster; neither is stored. Each attempt has a salt of its own.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from random import Random
from typing import TYPE_CHECKING, Protocol

from ...configs.settings import Settings
from ...metadata.image import Image, ScramCredential
from ..scram import MECHANISMS, SALT_SIZE, record_of
from ..token_hmac import token_hmac
from .oauth_bearer import TokenCheck
from .scram import ProvedToken

if TYPE_CHECKING:
    from ...requests.waiting import Waiting
    from .remote_keys import KeyEndpoint, RemoteKeySet, RemoteKeySets

NONCE_SIZE = 24
"""The size (bytes) of the server's part of a nonce."""


class CredentialHost(Protocol):
    """A node, as the mechanisms see it."""

    random: Random
    now: int
    settings: Settings
    token_check: TokenCheck | None

    @property
    def waiting(self) -> Waiting: ...

    @property
    def image(self) -> Image: ...


class CredentialStore:
    """The credentials that a node knows."""

    def __init__(self, host: CredentialHost) -> None:
        self._host = host
        self._remote_keys: RemoteKeySets | None = None

    @property
    def key_sets(self) -> RemoteKeySets:
        """The keys behind URLs."""
        if self._remote_keys is None:
            from .remote_keys import RemoteKeySets

            self._remote_keys = RemoteKeySets(self._host.waiting.timers)
        return self._remote_keys

    def remote_keys(self, endpoint: KeyEndpoint) -> RemoteKeySet:
        """The keys at a URL."""
        return self.key_sets.at(endpoint, self.now())

    @property
    def token_check(self) -> TokenCheck | None:
        """The function of the program that checks bearer tokens."""
        return self._host.token_check

    def now(self) -> int:
        """The time of the node (ms)."""
        return self._host.now

    def nonce(self) -> str:
        """A text that no client can foresee, and that does not come again: it is not the seed's, or
        a login that was seen once could be sent again after a restart."""
        return base64.b64encode(secrets.token_bytes(NONCE_SIZE)).decode()

    def of_user(self, mechanism: str, name: str) -> ScramCredential | None:
        """The keys of a user."""
        return self._host.image.scram.get((name, MECHANISMS[mechanism].type))

    def of_token(self, mechanism: str, token_id: str) -> ProvedToken | None:
        """The keys of a delegation token."""
        key, token = self._host.settings["delegation.token.secret.key"], self._host.image.tokens.get(token_id)
        if token is None or not key:
            return None
        password = base64.b64encode(token_hmac(str(key).encode(), token_id))
        made, salt = MECHANISMS[mechanism], self._host.random.randbytes(SALT_SIZE)
        salted = hashlib.pbkdf2_hmac(made.hash, password, salt, made.least)
        record = record_of(token_id, made, salt, salted, made.least)
        credential = ScramCredential(salt, bytes(record.stored_key), bytes(record.server_key), made.least)
        return ProvedToken(credential, token.owner.partition(":")[2], token.expiration_timestamp)
