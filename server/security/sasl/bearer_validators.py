"""What checks the tokens of OAUTHBEARER, by the name of Kafka's class for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafkadouble.wire.errors import UsageError

from ...configs.layers import Layers
from .oauth_bearer import UnsecuredValidator, Validator

UNSECURED = "OAuthBearerUnsecuredValidatorCallbackHandler"
"""Kafka's default: any client can make such a token."""


def validator_of(
    class_name: str, settings: Layers, listener: str, options: Mapping[str, str], now: Callable[[], int]
) -> Validator:
    """The validator that a class stands for. UsageError for an unknown one."""
    if class_name.rpartition(".")[2] in ("", UNSECURED):
        return UnsecuredValidator(options, now)
    raise UsageError(f"sasl.server.callback.handler.class: {class_name} is not known; {UNSECURED} is")
