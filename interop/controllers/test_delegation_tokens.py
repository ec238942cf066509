"""Delegation tokens (KIP-48) that our controller stores and a real broker accepts: Kafka's own tool
creates, describes, renews and expires them, and a client logs in with one.

    pytest interop/controllers/test_delegation_tokens.py --broker local

With `--controllers local` the tests run on Apache Kafka's controller, which must pass too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

import pytest

from interop.support import local_kafka, unique
from interop.tools.resident import Resident, ToolOutput, resident
from tests.support.waiting import eventually

from .guarded import MECHANISMS, Guarded, let_in, opened, set_password
from .kinds import Kafka, Kind

pytestmark = pytest.mark.timeout(900)

TOKENS = {
    "delegation.token.secret.key": "the key of the cluster",
    "delegation.token.expiry.check.interval.ms": "500",
}
TOOL, TOPICS = "org.apache.kafka.tools.DelegationTokenCommand", "org.apache.kafka.tools.TopicCommand"
HOUR, DAY, WEEK = 3_600_000, 86_400_000, 604_800_000
AT_ONCE = -1
MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule required"


class Token(NamedTuple):
    """A token as the tool shows it, with times in minutes."""

    id: str
    hmac: str
    owner: str
    requester: str
    renewers: str
    issued: datetime
    expires: datetime
    ends: datetime


class Cluster(NamedTuple):
    """The nodes, and the tools."""

    guarded: Guarded
    tools: Resident

    def user(self, stem: str) -> str:
        """Creates a user; the password is the name."""
        name = unique(stem)
        set_password(self.guarded, name, name, MECHANISMS[0])
        let_in(self.guarded, name, name, MECHANISMS[0])
        return self._known(name, f'username="{name}" password="{name}"')

    def holder(self, token: Token) -> str:
        """The login of a client that uses a token."""
        return self._known(token.id, f'username="{token.id}" password="{token.hmac}" tokenauth="true"')

    def _known(self, name: str, login: str) -> str:
        lines = (
            "security.protocol=SASL_PLAINTEXT",
            f"sasl.mechanism={MECHANISMS[0]}",
            f"sasl.jaas.config={MODULE} {login};",
        )
        (self.tools.folder / f"{name}.properties").write_text("\n".join(lines))
        return name

    def say(self, main: str, user: str, *words: str) -> ToolOutput:
        at = [
            "--bootstrap-server",
            self.guarded.bootstrap,
            "--command-config",
            str(self.tools.folder / f"{user}.properties"),
        ]
        return self.tools.call(main, [*at, *words])

    def done(self, user: str, *words: str) -> str:
        """The output of the tool, which must have succeeded."""
        output = self.say(TOOL, user, *words)
        assert output.code == 0, output
        return output.out

    def refused(self, user: str, *words: str) -> str:
        """The error text of the tool."""
        output = self.say(TOOL, user, *words)
        assert output.code == 1, output
        return output.err

    def created(self, user: str, *words: str, lifetime: int = AT_ONCE) -> Token:
        [token] = tokens(self.done(user, "--create", "--max-life-time-period", str(lifetime), *words))
        return token

    def described(self, user: str) -> list[Token]:
        """The tokens that the user owns, requested or may renew."""
        return tokens(self.done(user, "--describe", "--owner-principal", f"User:{user}"))

    def comes_in(self, user: str) -> bool:
        """Whether the client can authenticate and list topics."""
        output = self.say(TOPICS, user, "--list")
        assert output.code == 0 or "SaslAuthenticationException" in output.err, output
        return output.code == 0


def tokens(out: str) -> list[Token]:
    """The rows below the headline."""
    _, _, below = out.partition("MAXDATE")
    return [_token(line.split()) for line in below.splitlines() if line.strip()]


def _token(cells: Sequence[str]) -> Token:
    issued, expires, ends = (datetime.strptime(cell, "%Y-%m-%dT%H:%M") for cell in cells[5:])
    id, hmac, owner, requester, renewers = cells[:5]
    return Token(id, hmac, owner, requester, renewers, issued, expires, ends)


@pytest.fixture(scope="module")
def cluster(
    request: pytest.FixtureRequest, ours: Kind, real: Kafka, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("tokens")
    with local_kafka(request), resident() as tools, opened(folder, ours, real, TOKENS) as found:
        yield Cluster(found, tools)


def test_the_owner_and_the_renewers_set_how_long_a_token_is_valid(cluster: Cluster) -> None:
    """The broker computes a token's HMAC by itself, and gets the one that the controller
    answered."""
    ann, bob, eve = (cluster.user(stem) for stem in ("ann", "bob", "eve"))
    token = cluster.created(ann, "--renewer-principal", f"User:{bob}")
    assert token[2:5] == (f"User:{ann}", f"User:{ann}", f"[User:{bob}]")
    assert (token.expires - token.issued, token.ends - token.issued) == (timedelta(days=1), timedelta(days=7))
    for user in (ann, bob):
        eventually(partial(cluster.described, user), lambda found: found == [token])
    assert cluster.described(eve) == []
    for verb, period in (("renew", "renew"), ("expire", "expiry")):
        words = f"--{verb}", "--hmac", token.hmac, f"--{period}-time-period", str(HOUR)
        assert "DelegationTokenOwnerMismatchException" in cluster.refused(eve, *words)
        cluster.done(bob, *words)
        eventually(lambda: cluster.described(ann)[0].expires, lambda found: found < token.expires)
        cluster.done(ann, "--renew", "--hmac", token.hmac, "--renew-time-period", str(WEEK))
        eventually(lambda: cluster.described(ann)[0].expires, lambda found: found >= token.expires)
    cluster.done(ann, "--expire", "--hmac", token.hmac, "--expiry-time-period", str(AT_ONCE))
    eventually(lambda: cluster.described(ann), lambda found: found == [])
    again = cluster.refused(ann, "--renew", "--hmac", token.hmac, "--renew-time-period", str(HOUR))
    assert "DelegationTokenNotFoundException" in again


def test_a_client_logs_in_with_a_token(cluster: Cluster) -> None:
    """The client cannot create another token with it, and cannot authenticate once it has
    expired."""
    ann = cluster.user("ann")
    holder = cluster.holder(token := cluster.created(ann))
    eventually(lambda: cluster.comes_in(holder))
    for words in (
        ("--create", "--max-life-time-period", str(DAY)),
        ("--renew", "--hmac", token.hmac, "--renew-time-period", str(DAY)),
        ("--describe",),
    ):
        assert "UnsupportedByAuthenticationException" in cluster.refused(holder, *words)
    cluster.done(ann, "--expire", "--hmac", token.hmac, "--expiry-time-period", str(AT_ONCE))
    eventually(lambda: cluster.comes_in(holder), lambda found: not found)


def test_an_expired_token_is_removed(cluster: Cluster) -> None:
    ann = cluster.user("ann")
    holder = cluster.holder(token := cluster.created(ann, lifetime=HOUR))
    eventually(lambda: cluster.described(ann), lambda found: found == [token])
    eventually(lambda: cluster.comes_in(holder))
    cluster.done(ann, "--expire", "--hmac", token.hmac, "--expiry-time-period", "0")
    eventually(lambda: cluster.described(ann), lambda found: found == [])
    assert not cluster.comes_in(holder)


def test_tokens_outlive_the_controller(cluster: Cluster) -> None:
    """The tokens are in the controller's log, and a token that was requested for another user
    belongs to that user."""
    ann, bob = cluster.user("ann"), cluster.user("bob")
    token = cluster.created(ann, "--owner-principal", f"User:{bob}")
    assert token[2:5] == (f"User:{bob}", f"User:{ann}", "[]")
    (node,) = cluster.guarded.cluster.controllers
    node.kill()
    node.start()
    cluster.guarded.cluster.led()
    eventually(lambda: cluster.described(bob), lambda found: found == [token])
    cluster.done(bob, "--renew", "--hmac", token.hmac, "--renew-time-period", str(HOUR))
    refused = cluster.refused(ann, "--renew", "--hmac", token.hmac, "--renew-time-period", str(HOUR))
    assert "DelegationTokenOwnerMismatchException" in refused
