"""The principal of a client certificate, by `ssl.principal.mapping.rules` (KIP-371).

    RULE:pattern/replacement/[LU]   a name that the pattern matches as a whole is replaced; L and U
                                    make the result lower and upper case
    DEFAULT                         the distinguished name as it is

Rules. The first rule that matches decides. A certificate that no rule matches has no principal, and
its connection is closed. Patterns are those of Python; those that rules use are the same in Java. A
number of a group that the pattern does not have is a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple

from kafkadouble.wire.errors import UsageError, WireError

from .certificate_names import names_of

SETTING = "ssl.principal.mapping.rules"
ANONYMOUS = "User:ANONYMOUS"
RULE = r"(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?).*?|(?:.*?)"
SPLITTER = re.compile(rf"\s*({RULE})\s*(?:,\s*|$)")
PARSER = re.compile(RULE)
REFERENCE = re.compile(r"\\(.)|\$(\d+)", re.DOTALL)
CASES: dict[str, Callable[[str], str]] = {"": str, "L": str.lower, "U": str.upper}


class NoMatchingRule(Exception):
    """No rule matches the name of a certificate."""


class MappingRule(NamedTuple):
    """One rule. Without a pattern it is DEFAULT."""

    pattern: re.Pattern[str] | None
    replacement: str
    case: str

    def applied(self, name: str) -> str | None:
        """The principal's name, or None when the rule does not match."""
        if self.pattern is None:
            return name
        if self.pattern.fullmatch(name) is None:
            return None
        return CASES[self.case](self.pattern.sub(partial(_expanded, self.replacement), name))


@lru_cache(maxsize=32)
def mapping_rules(text: str) -> tuple[MappingRule, ...]:
    """The rules of the setting. UsageError for one that is not valid."""
    found = []
    for split in SPLITTER.finditer(text.strip()):
        rule = split[1]
        match = PARSER.match(rule)
        if match is None or match.end() != len(rule):
            unmatched = rule[match.end() if match else 0 :]
            raise UsageError(f"{SETTING}: Invalid rule: `{rule}`, unmatched substring: `{unmatched}`")
        if match[1]:
            found.append(MappingRule(None, "", ""))
        elif match[2] is not None:
            found.append(MappingRule(_compiled(match[2]), match[3], match[4]))
    return tuple(found)


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(f"{SETTING}: the pattern {pattern!r} is not valid: {error}") from None


def _expanded(replacement: str, match: re.Match[str]) -> str:
    """The replacement with the groups of a match in place of $1, $2."""
    return REFERENCE.sub(lambda found: found[1] or _group(match, found[2]), replacement)


def _group(match: re.Match[str], digits: str) -> str:
    """A group by its number. As many digits count as make a number of a group."""
    groups = match.re.groups
    for length in range(len(digits), 0, -1):
        if int(digits[:length]) <= groups:
            return (match[int(digits[:length])] or "") + digits[length:]
    return "$" + digits


def name_by_rules(rules: tuple[MappingRule, ...], name: str) -> str:
    """The principal's name for a distinguished name. NoMatchingRule."""
    for rule in rules:
        found = rule.applied(name)
        if found is not None:
            return found
    raise NoMatchingRule(f"no rule of {SETTING} applies to {name}")


def principal_of(certificate: bytes | None, rules_text: str) -> str:
    """The principal of a connection with this certificate of its client, in DER. NoMatchingRule,
    also for a certificate that cannot be read."""
    if not certificate:
        return ANONYMOUS
    try:
        subject = names_of(certificate).subject
    except WireError as error:
        raise NoMatchingRule(f"the certificate cannot be read: {error}") from None
    return f"User:{name_by_rules(mapping_rules(rules_text), subject)}"
