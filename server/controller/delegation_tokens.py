"""Delegation tokens as decisions (KIP-48, KIP-373): made, renewed, ended, and swept away when their time is over.

Rules. A token is proved by the HMAC of its id under the cluster's key: whoever shows that means this token, and nobody else can name it. Its
owner and its renewers may renew and end it, and nobody else, whoever asked for it. No renewal goes beyond the end that it was made with. A
token whose time is over is refused from that moment on, and removed when somebody sweeps; its owner may end it before. Times are in ms, and
none is beyond what 64 bits hold. Without a key there are no tokens.
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

from ..metadata.controller_result import MAX_RECORDS_PER_USER_OP, ControllerResult
from ..metadata.image import DelegationToken, Image
from ..metadata.versions import TOKENS, level_of
from ..requests.request import Refusal

if TYPE_CHECKING:
    from ..configs.settings import Settings

MAX_TIMESTAMP = 2**63 - 1
USER_TYPE = "User"


class KafkaPrincipal(NamedTuple):
    """Somebody, as requests name him."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"


class TokenSettings(NamedTuple):
    """On which tokens are given: the key, how long one lives at most (ms), and how long until it must be renewed."""

    key: bytes
    longest: int
    renewal: int

    def proof(self, token_id: str) -> bytes:
        """What the holder of a token shows."""
        return hmac.digest(self.key, token_id.encode(), "sha512")

    def __repr__(self) -> str:
        return f"tokens of {self.longest} ms, renewed within {self.renewal} ms"


def token_settings_of(settings: Settings) -> TokenSettings | None:
    """None where there is no key."""
    key = settings["delegation.token.secret.key"]
    if not key:
        return None
    longest, renewal = settings.int("delegation.token.max.lifetime.ms"), settings.int("delegation.token.expiry.time.ms")
    return TokenSettings(str(key).encode(), longest, renewal)


def checked_token_settings(image: Image, terms: TokenSettings | None) -> TokenSettings:
    """The terms. Refusal(DELEGATION_TOKEN_AUTH_DISABLED) where there are none, (UNSUPPORTED_VERSION) where the log has no tokens yet."""
    if terms is None:
        raise Refusal(error_codes.DELEGATION_TOKEN_AUTH_DISABLED)
    if level_of(image) < TOKENS:
        raise Refusal(error_codes.UNSUPPORTED_VERSION)
    return terms


class NewTokenRequest(NamedTuple):
    """A token that somebody asks for. A `lifetime` (ms) that is not positive is the longest."""

    owner: KafkaPrincipal
    requester: KafkaPrincipal
    renewers: Sequence[KafkaPrincipal]
    lifetime: int


def create_token(
    image: Image, terms: TokenSettings, wanted: NewTokenRequest, new_id: Callable[[], Uuid], now: int
) -> DelegationTokenRecord:
    """A new token. Refusal(INVALID_PRINCIPAL_TYPE) for a renewer who is no user."""
    if any(renewer.type != USER_TYPE for renewer in wanted.renewers):
        raise Refusal(error_codes.INVALID_PRINCIPAL_TYPE)
    end = _add_ms(now, _bounded_period(terms.longest, wanted.lifetime))
    return DelegationTokenRecord(
        owner=str(wanted.owner),
        requester=str(wanted.requester),
        renewers=[*map(str, wanted.renewers)],
        issue_timestamp=now,
        max_timestamp=end,
        expiration_timestamp=min(end, _add_ms(now, terms.renewal)),
        token_id=_unused_token_id(image, new_id),
    )


def _unused_token_id(image: Image, new_id: Callable[[], Uuid]) -> str:
    """An id that no token has, whatever `new_id` gives."""
    while (id := str(new_id())) in image.tokens:
        pass
    return id


def renew_token(
    image: Image, terms: TokenSettings, proof: bytes, who: str, period: int, now: int
) -> ControllerResult[int]:
    """The token lives for another `period`, or as long as the terms say at most; the result is its new end. Refusal."""
    token_id, token = _token_with_hmac(image, terms, proof)
    if _is_expired(token, now):
        raise Refusal(error_codes.DELEGATION_TOKEN_EXPIRED)
    _check_owner_or_renewer(token, who)
    return _with_expiry(token_id, token, _add_ms(now, _bounded_period(terms.renewal, period)))


def expire_token(
    image: Image, terms: TokenSettings, proof: bytes, who: str, period: int, now: int
) -> ControllerResult[int]:
    """The token ends in `period`, which may be sooner or later than it would have; at once when that is negative. The result is its end.
    Refusal."""
    token_id, token = _token_with_hmac(image, terms, proof)
    _check_owner_or_renewer(token, who)
    if period < 0:
        return ControllerResult([RemoveDelegationTokenRecord(token_id=token_id)], [now])
    if _is_expired(token, now):
        raise Refusal(error_codes.DELEGATION_TOKEN_EXPIRED)
    return _with_expiry(token_id, token, _add_ms(now, period))


def sweep_expired_tokens(image: Image, now: int) -> list[Message]:
    """What removes the tokens whose time is over, as many as one batch takes."""
    ids = sorted(id for id, token in image.tokens.items() if _is_expired(token, now))
    return [RemoveDelegationTokenRecord(token_id=id) for id in ids[:MAX_RECORDS_PER_USER_OP]]


def _with_expiry(token_id: str, token: DelegationToken, end: int) -> ControllerResult[int]:
    changed = token._replace(expiration_timestamp=min(token.max_timestamp, end))
    return ControllerResult(
        [DelegationTokenRecord(token_id=token_id, **changed._asdict())], [changed.expiration_timestamp]
    )


def _token_with_hmac(image: Image, terms: TokenSettings, proof: bytes) -> tuple[str, DelegationToken]:
    for token_id, token in image.tokens.items():
        if hmac.compare_digest(terms.proof(token_id), proof):
            return token_id, token
    raise Refusal(error_codes.DELEGATION_TOKEN_NOT_FOUND)


def _check_owner_or_renewer(token: DelegationToken, who: str) -> None:
    if who != token.owner and who not in token.renewers:
        raise Refusal(error_codes.DELEGATION_TOKEN_OWNER_MISMATCH)


def _is_expired(token: DelegationToken, now: int) -> bool:
    return min(token.max_timestamp, token.expiration_timestamp) < now


def _bounded_period(most: int, wanted: int) -> int:
    """The most that there is also for who wants nothing in particular."""
    return min(most, wanted) if wanted > 0 else most


def _add_ms(now: int, duration: int) -> int:
    return min(now + duration, MAX_TIMESTAMP)
