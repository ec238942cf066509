"""The names of cipher suites: Java's, which are those of IANA, and OpenSSL's.

Rules. The suites of TLS 1.3 have one name in both, and OpenSSL offers all of them: this Python
cannot choose among them. A name of OpenSSL is taken as it is.
"""

from __future__ import annotations

import re

NAME = re.compile(r"TLS_(?:(DHE|ECDHE)_)?(RSA|ECDSA)_WITH_(\w+)")
CIPHERS = {
    "AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "AES_256_GCM_SHA384": "AES256-GCM-SHA384",
    "CHACHA20_POLY1305_SHA256": "CHACHA20-POLY1305",
    "AES_128_CBC_SHA256": "AES128-SHA256",
    "AES_128_CBC_SHA": "AES128-SHA",
    "AES_256_CBC_SHA256": "AES256-SHA256",
    "AES_256_CBC_SHA384": "AES256-SHA384",
    "AES_256_CBC_SHA": "AES256-SHA",
}
OF_TLS_1_3 = ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256")


def is_of_tls_1_3(name: str) -> bool:
    """Whether a suite is one of TLS 1.3."""
    return name in OF_TLS_1_3


def name_in_openssl(name: str) -> str:
    """OpenSSL's name of a suite of TLS 1.2, or the same name if it is not one of Java's."""
    match = NAME.fullmatch(name)
    if match is None or match[3] not in CIPHERS:
        return name
    exchange = f"{match[1]}-{match[2]}-" if match[1] else ""
    return exchange + CIPHERS[match[3]]
