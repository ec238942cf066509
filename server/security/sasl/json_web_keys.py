"""The keys that signed tokens are checked with: a JWK set (RFC 7517), and the key of it that a
token names (KIP-768).

Rules.
- A file is read when the mechanisms of a listener are made, and again when a token comes after it
  was modified. One that cannot be read then has no keys. `remote_keys` has what is behind a URL.
- Keys that cannot check a signature are left out: symmetric ones, those for encryption, RSA keys
  below 2048 bits, and those that cannot be read. A private key counts as its public part.
- A token may have only an algorithm of `ALGORITHMS`, and the key must be of its type and curve. So
  no public key is ever taken for the secret of an HMAC.

It needs the library PyJWT.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import urlsplit
from urllib.request import url2pathname

from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import UsageError

if TYPE_CHECKING:
    from jwt.algorithms import AllowedPublicKeys

log = ClientLog("kafkadouble.server.security")

RSA, EC, OKP = "RSA", "EC", "OKP"
LEAST_RSA_BITS = 2048

ALGORITHMS: Mapping[str, tuple[str, str | None]] = {
    **{f"{family}{bits}": (RSA, None) for family in ("RS", "PS") for bits in (256, 384, 512)},
    "ES256": (EC, "P-256"),
    "ES384": (EC, "P-384"),
    "ES512": (EC, "P-521"),
    "EdDSA": (OKP, "Ed25519"),
}
"""The algorithms that may sign a token: the type and the curve of the key."""

PUBLIC_PARTS = {RSA: ("n", "e"), EC: ("crv", "x", "y"), OKP: ("crv", "x")}
READ_WITH = {(RSA, None): "RS256", **{kind: name for name, kind in ALGORITHMS.items() if kind[0] != RSA}}


class JsonWebKey(NamedTuple):
    """A public key, and what its set says about it."""

    key: AllowedPublicKeys
    kind: tuple[str, str | None]
    key_id: object
    algorithm: object


class KeySource(Protocol):
    """The store in which a validator finds keys."""

    @property
    def keys(self) -> tuple[JsonWebKey, ...]:
        """The keys that there are now."""
        ...

    def key_is_missing(self, key_id: object, now: int) -> None:
        """A token named a key that is not among them, at a time in ms."""
        ...


class KeysOfFile:
    """The keys of the set at a file: URL. UsageError, which names the place of the setting, if it
    cannot be read."""

    def __init__(self, url: str, place: str) -> None:
        self._path = Path(url2pathname(urlsplit(url).path))
        self._place = f"{place}: {self._path}"
        self._modified = self._modified_ns()
        self._keys = self._read()

    @property
    def keys(self) -> tuple[JsonWebKey, ...]:
        """The keys of the file as it is now."""
        modified = self._modified_ns()
        if modified != self._modified:
            self._modified = modified
            try:
                self._keys = self._read()
            except UsageError as problem:
                log.warning("%s", problem)
                self._keys = ()
        return self._keys

    def key_is_missing(self, key_id: object, now: int) -> None:
        """Nothing is to be done: the file was read."""

    def _modified_ns(self) -> int | None:
        try:
            return self._path.stat().st_mtime_ns
        except OSError:
            return None

    def _read(self) -> tuple[JsonWebKey, ...]:
        try:
            data = self._path.read_bytes()
        except OSError as problem:
            raise UsageError(f"{self._place} cannot be read: {problem.strerror}") from None
        return keys_in(data, self._place)


def keys_in(data: bytes, place: str) -> tuple[JsonWebKey, ...]:
    """The keys of a set. UsageError names the place."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise UsageError(f"{place} is no JSON") from None
    listed = found.get("keys") if isinstance(found, dict) else None
    if not isinstance(listed, list):
        raise UsageError(f"{place} is no JWK set: it has no list `keys`")
    keys = tuple(key for each in listed if isinstance(each, dict) and (key := _key(each)) is not None)
    if not keys:
        raise UsageError(f"{place} has no key that can check a signature")
    return keys


def _key(given: Mapping[str, Any]) -> JsonWebKey | None:
    """The key of one entry; None for one that cannot check a signature."""
    from jwt import PyJWK, PyJWTError

    type = given.get("kty")
    kind: tuple[Any, Any] = (RSA, None) if type == RSA else (type, given.get("crv"))
    operations = given.get("key_ops", ["verify"])
    is_for_signatures = given.get("use", "sig") == "sig" and isinstance(operations, list) and "verify" in operations
    if not _is_known(kind) or not is_for_signatures:
        return None
    try:
        public = {"kty": type, **{name: given[name] for name in PUBLIC_PARTS[str(type)]}}
        key = PyJWK(public, READ_WITH[kind]).key
    except (PyJWTError, KeyError, TypeError, ValueError, AttributeError):
        return None
    if type == RSA and key.key_size < LEAST_RSA_BITS:
        return None
    return JsonWebKey(key, kind, given.get("kid"), given.get("alg"))


def _is_known(kind: tuple[object, object]) -> bool:
    return all(part is None or isinstance(part, str) for part in kind) and kind in READ_WITH


def key_for(keys: tuple[JsonWebKey, ...], algorithm: str, key_id: str | None) -> JsonWebKey | None:
    """The key for a token with this algorithm and key id. Of several, one whose own algorithm is
    this one; then the first."""
    fitting = [key for key in keys if key.kind == ALGORITHMS[algorithm] and (key_id is None or key.key_id == key_id)]
    if len(fitting) > 1:
        fitting = [each for each in fitting if each.algorithm in (None, algorithm)]
    return fitting[0] if fitting else None
