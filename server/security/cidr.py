"""Checks CIDR ranges as hosts of ACLs: an IPv4 or IPv6 address, a slash, and the number of leading
bits (Kafka 4.4).

Errors are in the words of the library that Kafka uses.
"""

from __future__ import annotations

import re
from ipaddress import IPv6Address

IPV4 = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})/(\d{1,2})", re.ASCII)
IPV6_BITS, IPV4_BITS, BYTE = 128, 32, 255
NUMBER = re.compile(r"[+-]?\d{1,10}", re.ASCII)


def problem(text: str) -> str | None:
    """The problem of a range; None if it is valid."""
    return _problem_of_ipv6(text) if ":" in text else _problem_of_ipv4(text)


def _problem_of_ipv4(text: str) -> str | None:
    parts = IPV4.fullmatch(text)
    if parts is None:
        return f"Could not parse [{text}]"
    *numbers, bits = map(int, parts.groups())
    for number, most in [*((number, BYTE) for number in numbers), (bits, IPV4_BITS)]:
        if number > most:
            return f"Value [{number}] not in range [0,{most}]"
    return None


def _problem_of_ipv6(text: str) -> str | None:
    address, _, bits = text.partition("/")
    if not NUMBER.fullmatch(bits) or not -(2**31) <= int(bits) < 2**31:
        return f"Could not parse [{text}] - invalid prefix length"
    if not 0 <= int(bits) <= IPV6_BITS:
        return f"Could not parse [{text}] - prefix length must be between 0 and {IPV6_BITS}"
    try:
        mapped = IPv6Address(address).ipv4_mapped
    except ValueError:
        return f"Could not parse [{address}]"
    return None if mapped is None else f"Could not parse [{address}] - not an IPv6 address"
