"""The types of words are the words that the checks allow."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from kafkadouble.access.security import SECURE
from kafkadouble.arguments.parameters import CERTIFICATES, FORMATS, ISOLATION_LEVELS
from kafkadouble.clients.client_config import CLIENTS
from kafkadouble.common import literals
from kafkadouble.waits.coordinator_conditions import GROUP_STATES, TRANSACTION_STATES


@pytest.mark.parametrize(
    ("literal", "words"),
    [
        (literals.SecureProtocol, SECURE),
        (literals.ListenerProtocol, ["PLAINTEXT", *SECURE]),
        (literals.CertificateKind, CERTIFICATES),
        (literals.IsolationLevel, ISOLATION_LEVELS),
        (literals.RecordFormat, FORMATS),
        (literals.ClientLibrary, CLIENTS),
        (literals.GroupStateName, GROUP_STATES),
        (literals.TransactionStateName, TRANSACTION_STATES),
    ],
)
def test_a_type_has_the_words_of_its_check(literal: Any, words: Any) -> None:
    assert sorted(get_args(literal)) == sorted(words)
