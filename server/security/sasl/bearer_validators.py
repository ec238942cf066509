"""What checks the tokens of OAUTHBEARER, by the name of Kafka's class for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from kafkadouble.wire.errors import UsageError

from ...configs.layers import Layers
from ...configs.listener_settings import of_mechanism
from .oauth_bearer import UnsecuredValidator, Validator

UNSECURED = "OAuthBearerUnsecuredValidatorCallbackHandler"
"""Kafka's default: any client can make such a token."""


SIGNED = "OAuthBearerValidatorCallbackHandler"
"""Checks tokens that are signed."""

PACKAGE = "org.apache.kafka.common.security.oauthbearer"
OLD_PACKAGE = f"{PACKAGE}.secured"
"""Kafka 4.4 has no class there any more."""


def validator_of(
    class_name: str, settings: Layers, listener: str, options: Mapping[str, str], now: Callable[[], int]
) -> Validator:
    """The validator that a class stands for. UsageError for an unknown one."""
    package, _, name = class_name.rpartition(".")
    if name in ("", UNSECURED):
        return UnsecuredValidator(options, now)
    if name == SIGNED and package != OLD_PACKAGE:
        from .signed_tokens import SignedValidator, token_rules

        return SignedValidator(token_rules(partial(of_mechanism, settings, listener, "OAUTHBEARER")), now)
    raise UsageError(
        f"sasl.server.callback.handler.class: {class_name} is not known; {UNSECURED} and {SIGNED} of {PACKAGE} are"
    )
