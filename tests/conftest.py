"""What holds for all tests."""

import pytest
from hypothesis import settings

from kafkadouble import KafkaDouble

# How long an example takes says how busy the machine is.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")


@pytest.fixture(scope="session")
def broker_imported() -> None:
    """Imports what brokers are made of before a suite runs inside of this one: pytester forgets a part
    of what such a suite imports, and then there would be two of a class."""
    with KafkaDouble() as kafka:
        kafka.create_topic("t")
        kafka.produce("t", "x")
        kafka.clear_rules()
        kafka.reset()
