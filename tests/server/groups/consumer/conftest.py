import pytest

from tests.server.groups.consumer.bench import ConsumerBench


@pytest.fixture
def bench() -> ConsumerBench:
    return ConsumerBench()
