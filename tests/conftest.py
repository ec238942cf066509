"""What holds for all tests."""

import pytest
from hypothesis import settings

from kafkadouble import KafkaDouble

# How long an example takes says how busy the machine is.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")


@pytest.fixture(scope="session")
def broker_imported() -> None:
    """What a broker is made of is there before the first suite that runs inside of this one: of what such a suite imports, pytester forgets a
    part, and then there would be two of an enum."""
    with KafkaDouble() as kafka:
        kafka.create_topic("t")
        kafka.produce("t", "x")
        kafka.reset()
