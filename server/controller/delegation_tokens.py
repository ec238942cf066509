"""Delegation tokens: created, renewed, expired and swept (KIP-48, KIP-373).

A token is proved by the HMAC of its id under the cluster's secret key; a request names a token by
that HMAC only. The owner and the renewers of a token may renew and expire it; the requester as such
may not. No renewal goes beyond the token's maximum timestamp. An expired token is refused from that
moment on, and removed by the next sweep; its owner may expire it earlier. Times are in ms and
bounded to 64 bits. Without a secret key there are no tokens.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.delegation_token_record import DelegationTokenRecord
from kafkadouble.messages.generated.remove_delegation_token_record import RemoveDelegationTokenRecord
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ..metadata.image import DelegationToken, Image
from ..metadata.record_versions import TOKENS, level_of
from ..requests.request import Refusal
from ..security.token_hmac import token_hmac
from .controller_result import MAX_RECORDS_PER_USER_OP, ControllerResult

if TYPE_CHECKING:
    from ..configs.settings import Settings

MAX_TIMESTAMP = 2**63 - 1
USER_TYPE = "User"


class KafkaPrincipal(NamedTuple):
    """A principal as requests name it."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"


class TokenSettings(NamedTuple):
    """The secret key, the maximum lifetime (ms), and the time within which a token must be renewed
    (ms).
    """

    key: bytes
    max_lifetime_ms: int
    expiry_time_ms: int

    def proof(self, token_id: str) -> bytes:
        """The HMAC that the holder of a token sends."""
        return token_hmac(self.key, token_id)

    def __repr__(self) -> str:
        return f"tokens of {self.max_lifetime_ms} ms, renewed within {self.expiry_time_ms} ms"


def token_settings_of(settings: Settings) -> TokenSettings | None:
    """The settings; None without a secret key."""
    key = settings["delegation.token.secret.key"]
    if not key:
        return None
    max_lifetime_ms, expiry_time_ms = (
        settings.int("delegation.token.max.lifetime.ms"),
        settings.int("delegation.token.expiry.time.ms"),
    )
    return TokenSettings(str(key).encode(), max_lifetime_ms, expiry_time_ms)


def checked_token_settings(image: Image, token_settings: TokenSettings | None) -> TokenSettings:
    """The settings. Refusal(DELEGATION_TOKEN_AUTH_DISABLED) without a secret key,
    (UNSUPPORTED_VERSION) below the metadata.version that has tokens.
    """
    if token_settings is None:
        raise Refusal(error_codes.DELEGATION_TOKEN_AUTH_DISABLED)
    if level_of(image) < TOKENS:
        raise Refusal(error_codes.UNSUPPORTED_VERSION)
    return token_settings


class NewTokenRequest(NamedTuple):
    """A token to create. A `lifetime` (ms) of 0 or less means the maximum."""

    owner: KafkaPrincipal
    requester: KafkaPrincipal
    renewers: Sequence[KafkaPrincipal]
    lifetime: int


def create_token(
    image: Image, token_settings: TokenSettings, requested: NewTokenRequest, new_id: Callable[[], Uuid], now: int
) -> DelegationTokenRecord:
    """A new token. Refusal(INVALID_PRINCIPAL_TYPE) for a renewer that is not a user."""
    if any(renewer.type != USER_TYPE for renewer in requested.renewers):
        raise Refusal(error_codes.INVALID_PRINCIPAL_TYPE)
    end = _add_ms(now, _bounded_period(token_settings.max_lifetime_ms, requested.lifetime))
    # An id that no token has, whatever `new_id` returns.
    while (id := str(new_id())) in image.tokens:
        pass
    return DelegationTokenRecord(
        owner=str(requested.owner),
        requester=str(requested.requester),
        renewers=[*map(str, requested.renewers)],
        issue_timestamp=now,
        max_timestamp=end,
        expiration_timestamp=min(end, _add_ms(now, token_settings.expiry_time_ms)),
        token_id=id,
    )


def renew_token(
    image: Image, token_settings: TokenSettings, proof: bytes, principal: str, period: int, now: int
) -> ControllerResult[int]:
    """Extends the token by `period` (ms), or by the settings' maximum; the result is its new expiry
    time. Refusal.
    """
    token_id, token = _token_with_hmac(image, token_settings, proof)
    if _is_expired(token, now):
        raise Refusal(error_codes.DELEGATION_TOKEN_EXPIRED)
    _check_owner_or_renewer(token, principal)
    return _with_expiry(token_id, token, _add_ms(now, _bounded_period(token_settings.expiry_time_ms, period)))


def expire_token(
    image: Image, token_settings: TokenSettings, proof: bytes, principal: str, period: int, now: int
) -> ControllerResult[int]:
    """Sets the token to expire in `period` (ms), earlier or later than before; a negative period
    removes it at once. The result is its new expiry time. Refusal.
    """
    token_id, token = _token_with_hmac(image, token_settings, proof)
    _check_owner_or_renewer(token, principal)
    if period < 0:
        return ControllerResult([RemoveDelegationTokenRecord(token_id=token_id)], [now])
    if _is_expired(token, now):
        raise Refusal(error_codes.DELEGATION_TOKEN_EXPIRED)
    return _with_expiry(token_id, token, _add_ms(now, period))


def sweep_expired_tokens(image: Image, now: int) -> list[Message]:
    """The records that remove expired tokens, at most one batch of them."""
    ids = sorted(id for id, token in image.tokens.items() if _is_expired(token, now))
    return [RemoveDelegationTokenRecord(token_id=id) for id in ids[:MAX_RECORDS_PER_USER_OP]]


def _with_expiry(token_id: str, token: DelegationToken, end: int) -> ControllerResult[int]:
    changed = token._replace(expiration_timestamp=min(token.max_timestamp, end))
    return ControllerResult(
        [DelegationTokenRecord(token_id=token_id, **changed._asdict())], [changed.expiration_timestamp]
    )


def _token_with_hmac(image: Image, token_settings: TokenSettings, proof: bytes) -> tuple[str, DelegationToken]:
    for token_id, token in image.tokens.items():
        if hmac.compare_digest(token_settings.proof(token_id), proof):
            return token_id, token
    raise Refusal(error_codes.DELEGATION_TOKEN_NOT_FOUND)


def _check_owner_or_renewer(token: DelegationToken, principal: str) -> None:
    if principal != token.owner and principal not in token.renewers:
        raise Refusal(error_codes.DELEGATION_TOKEN_OWNER_MISMATCH)


def _is_expired(token: DelegationToken, now: int) -> bool:
    return min(token.max_timestamp, token.expiration_timestamp) < now


def _bounded_period(maximum: int, requested: int) -> int:
    """A period that is not positive means the maximum."""
    return min(maximum, requested) if requested > 0 else maximum


def _add_ms(now: int, duration: int) -> int:
    return min(now + duration, MAX_TIMESTAMP)
