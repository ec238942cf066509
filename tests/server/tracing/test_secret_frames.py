"""Frames with secrets are left out of captures, and no others."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import registry
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkadouble.server.tracing.secret_frames import holds_secrets

BROKER, TOPIC = 4, 2


@pytest.mark.parametrize(
    ("api", "expected"),
    [
        *((name, True) for name in ("SaslAuthenticate", "Envelope", "AlterUserScramCredentials", "AlterConfigs")),
        *((name, True) for name in ("CreateDelegationToken", "RenewDelegationToken", "DescribeDelegationToken")),
        *((name, False) for name in ("SaslHandshake", "CreateTopics", "Produce", "DescribeConfigs")),
    ],
)
def test_of_a_frame_that_was_not_decoded_the_api_counts(api: str, expected: bool) -> None:
    assert holds_secrets(registry.api_named(api).key) is expected


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        (BROKER, "listener.name.x.plain.sasl.jaas.config", True),
        (BROKER, "ssl.keystore.password", True),
        (BROKER, "a.setting.of.a.plugin", True),
        (BROKER, "log.retention.ms", False),
        (TOPIC, "retention.ms", False),
        (TOPIC, "a.setting.of.a.plugin", False),
    ],
)
def test_of_a_request_that_sets_configurations_their_names_count(kind: int, name: str, expected: bool) -> None:
    of: Any = IncrementalAlterConfigsRequest
    resource = of.AlterConfigsResource(resource_type=kind, configs=[of.AlterableConfig(name=name, value="x")])
    assert holds_secrets(of.api_key, of(resources=[resource])) is expected
