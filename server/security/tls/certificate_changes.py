"""Checks that a new certificate keeps the required properties of the old one (KIP-226), with
Kafka's error texts.

Rules. The distinguished name must be the same, unless `ssl.allow.dn.changes` says otherwise, and
the alternative names must all be there, unless `ssl.allow.san.changes` does. The texts are Kafka's;
it lists alternative names in the order of a hash table, this file in that of their types.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import ip_address

from ...configs.layers import Layers
from .certificate_names import CertificateNames

CONFIG_EXCEPTION = "org.apache.kafka.common.config.ConfigException: "
TEXTS = (1, 2, 6)
"""The types of alternative names that are texts: an e-mail address, a host, a URI."""

ADDRESS = 7
BETWEEN = re.compile(r"(?<!\\),")


def refused_change(before: CertificateNames, after: CertificateNames, alias: str, settings: Layers) -> str:
    """Why a certificate may not replace the one before, or "". `alias`: of its entry in a store."""
    if after.subject.lower() != before.subject.lower() and not settings.value("ssl.allow.dn.changes"):
        shown = [BETWEEN.sub(", ", each.subject) for each in (before, after)]
        return _mismatch("DistinguishedName does", f"{{alias={alias}, DN=", *shown)
    if not before.alternative <= after.alternative and not settings.value("ssl.allow.san.changes"):
        return _mismatch(
            "SubjectAltNames do", f"{{alias={alias}, SAN=", *map(_listed, (before.alternative, after.alternative))
        )
    return ""


def _mismatch(what: str, entry: str, before: str, after: str) -> str:
    return f"{CONFIG_EXCEPTION}Keystore {what} not match:  existing={entry}{before}}}, new={entry}{after}}}"


def _listed(names: Iterable[bytes]) -> str:
    """General names in DER, as Java lists them: each with its type."""
    return f"[{', '.join(f'[{name[0] & 0x1F}, {_text(name)}]' for name in sorted(names))}]"


def _text(name: bytes) -> str:
    """A general name in DER whose length has one byte, which is that of all but long ones."""
    kind, content = name[0] & 0x1F, name[2:]
    if kind in TEXTS and content.isascii():
        return content.decode("ascii")
    if kind == ADDRESS and len(content) in (4, 16):
        return str(ip_address(content))
    return content.hex()
