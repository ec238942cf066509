"""Settings and fixtures for all tests."""

import pytest
from hypothesis import settings

from kafkadouble import KafkaDouble

# The time of an example depends on the load of the machine, so there is no deadline.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")


@pytest.fixture(scope="session")
def broker_imported() -> None:
    """Imports the broker's modules before a suite runs inside this one. pytester unloads some
    modules that such a suite imports; without this, a class would exist twice.
    """
    with KafkaDouble() as kafka:
        kafka.create_topic("t")
        kafka.produce("t", "x")
        kafka.clear_rules()
        kafka.reset()
