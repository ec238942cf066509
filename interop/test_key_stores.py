"""Key stores that brokers of the same settings do not trust, and changes of key stores while a
broker runs: what is refused on a kafkadouble and on an Apache Kafka.

Listeners with TLS: INTERNAL, which brokers use among themselves, and EXTERNAL. Kafka tries a
connection between brokers with the settings before and after on INTERNAL alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from interop.controllers.admin import BROKER, alter_configs
from interop.local.node import Node
from interop.one_node import KINDS, formatted
from interop.quorum import CLIENTS, CONTROLLER
from kafkadouble.access.certificates import Certificates
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_configs import DescribeConfigsRequest
from tests.support.client import ask
from tests.support.ports import HOST
from tests.support.waiting import eventually

INTERNAL, EXTERNAL = "INTERNAL", "EXTERNAL"
PROTOCOLS = {CLIENTS: "PLAINTEXT", INTERNAL: "SSL", EXTERNAL: "SSL", CONTROLLER: "PLAINTEXT"}
KEYS, TRUST = "ssl.keystore.location", "ssl.truststore.location"
REFUSED = (
    "Invalid value org.apache.kafka.common.config.ConfigException: Validation of dynamic config update of SSLFactory "
    "failed: {} for configuration Invalid dynamic configuration"
)
EXCEPTION = "org.apache.kafka.common.config.ConfigException: "


class Stores(NamedTuple):
    """Files in PEM: key stores of the same names by two authorities and of other names by the
    first, and trust stores."""

    first: str
    second: str
    other_name: str
    trusts_first: str
    trusts_second: str
    trusts_both: str


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    folder = tmp_path_factory.mktemp("stores")
    made = [Certificates("valid", ["localhost", HOST]) for _ in range(2)]
    pairs = [each.of_brokers() for each in made]
    texts = [
        *(pair.key + pair.certificate for pair in pairs),
        made[0].of_user("other").read_text(),
        *(each.authority for each in made),
        made[0].authority + made[1].authority,
    ]
    for name, text in zip(Stores._fields, texts, strict=True):
        (folder / name).write_text(text)
    for each in made:
        each.close()
    return Stores(*(str(folder / name) for name in Stores._fields))


@pytest.fixture
def node(node_kind: str, stores: Stores, tmp_path: Path) -> Iterator[Node]:
    """A node that is not started yet. It has each setting for each listener, too."""
    own = {
        "ssl.keystore.type": "PEM",
        KEYS: stores.first,
        "ssl.truststore.type": "PEM",
        TRUST: stores.trusts_first,
        "ssl.client.auth": "required",
    }
    of_listeners = {_of(listener, name): value for listener in (INTERNAL, EXTERNAL) for name, value in own.items()}
    settings = {"inter.broker.listener.name": INTERNAL, **own, **of_listeners}
    found = formatted(KINDS[node_kind], tmp_path, PROTOCOLS, settings)
    yield found
    found.kill()


def _of(listener: str, setting: str) -> str:
    return f"listener.name.{listener.lower()}.{setting}"


def _alter(node: Node, changes: Mapping[str, str]) -> tuple[str, str | None]:
    """The error and its text. What is altered is known to the broker when this returns."""
    answer = alter_configs(node.bootstrap, BROKER, "1", changes)
    if not answer.error_code:
        eventually(lambda: _described(node), lambda found: changes.items() <= found.items())
    return error_codes.name(answer.error_code), answer.error_message


def _described(node: Node) -> dict[str, str | None]:
    of = DescribeConfigsRequest
    resource = of.DescribeConfigsResource(resource_type=BROKER, resource_name="1", configuration_keys=None)
    (answer,) = ask(node.bootstrap, of(resources=[resource]), 4).results
    return {config.name: config.value for config in answer.configs}


def test_a_broker_whose_own_key_store_is_not_trusted_does_not_start(node: Node, stores: Stores) -> None:
    node.configure(**{_of(INTERNAL, TRUST): stores.trusts_second})
    with pytest.raises(RuntimeError, match=r"was not ready \(exit code [1-9]"):
        node.start()


def test_key_stores_that_may_replace_another(node: Node, stores: Stores) -> None:
    node.configure(**{_of(EXTERNAL, TRUST): stores.trusts_second})
    node.start()
    keys, trust = _of(INTERNAL, KEYS), _of(INTERNAL, TRUST)
    for changes in (
        {keys: stores.second},
        {trust: stores.trusts_second},
        {keys: stores.second, trust: stores.trusts_second},
    ):
        error, text = _alter(node, changes)
        assert error == "INVALID_REQUEST"
        assert text is not None
        assert text.startswith(REFUSED.partition("{}")[0])
        assert text.endswith(REFUSED.partition("{}")[2])
    names = "existing={alias=kafka, DN=CN=kafkadouble}, new={alias=kafka, DN=CN=other}"
    mismatch = f"{EXCEPTION}Keystore DistinguishedName does not match:  {names}"
    assert _alter(node, {keys: stores.other_name}) == ("INVALID_REQUEST", REFUSED.format(mismatch))
    assert _alter(node, {_of(EXTERNAL, KEYS): stores.second})[0] == "NONE"
    for changes in ({trust: stores.trusts_both}, {keys: stores.second}, {trust: stores.trusts_second}):
        assert _alter(node, changes)[0] == "NONE"
