"""Principals by `ssl.principal.mapping.rules`. The examples are those of KIP-371."""

from __future__ import annotations

import pytest

from kafkadouble.server.security.tls.principal_mapping import (
    NoMatchingRule,
    mapping_rules,
    name_by_rules,
    principal_of,
)
from kafkadouble.wire.errors import UsageError

KIP = ",".join(
    [
        r"RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/",
        r"RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L",
        r"RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/L",
        "DEFAULT",
    ]
)


def named(rules: str, name: str) -> str:
    return name_by_rules(mapping_rules(rules), name)


@pytest.mark.parametrize(
    ("rules", "name", "expected"),
    [
        ("DEFAULT", "CN=a,O=b", "CN=a,O=b"),
        (KIP, "CN=kafka-server1, OU=KAFKA", "kafka"),
        (KIP, "CN=Admin,OU=ServiceUsers,O=x", "Admin"),
        (KIP, "CN=Adm,OU=Grp,O=O,L=L,ST=S,C=C", "adm@grp"),
        (KIP, "OU=none", "OU=none"),
        ("RULE:^CN=(.*)$/$1/U", "CN=alice", "ALICE"),
        ("RULE:^CN=(.*),O=(.*)$/$1@$3/", "CN=a,O=b", "a@$3"),
        ("RULE:^CN=(.*),O=(.*)$/$12/", "CN=a,O=b", "a2"),
        (r"RULE:^CN=(.*)$/\$1/", "CN=a", "$1"),
        ("RULE:^CN=(.*?)(,O=.*)?$/$1-$2/", "CN=a", "a-"),
        ("RULE:^C=(.*)$/$1/, RULE:^CN=(.*)$/$1/", "CN=a", "a"),
        (" , DEFAULT ", "CN=a", "CN=a"),
        (r"RULE:^CN=(.*)\/x$/$1/", "CN=a/x", "a"),
    ],
)
def test_the_first_rule_that_matches_decides(rules: str, name: str, expected: str) -> None:
    assert named(rules, name) == expected


@pytest.mark.parametrize("rules", ["RULE:^CN=(.*)$/$1/", ""])
def test_a_name_without_a_rule_has_no_principal(rules: str) -> None:
    with pytest.raises(NoMatchingRule, match=r"no rule of ssl.principal.mapping.rules applies to O=b"):
        named(rules, "O=b")


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ("RULE:^CN=(.*)$/$1", "Invalid rule"),
        ("deault", "Invalid rule: `deault`, unmatched substring: `deault`"),
        ("RULE:(/$1/", "the pattern .* is not valid"),
    ],
)
def test_rules_that_are_not_valid(rules: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        mapping_rules(rules)


def test_a_client_without_a_certificate_is_anonymous() -> None:
    assert principal_of(None, "RULE:^CN=(.*)$/$1/") == "User:ANONYMOUS"


def test_a_certificate_that_cannot_be_read_has_no_principal() -> None:
    with pytest.raises(NoMatchingRule, match="cannot be read"):
        principal_of(b"0\x03abc", "DEFAULT")
