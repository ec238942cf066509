"""The network treats messages as configured, and in no other way; the same seed gives the same
result."""

from __future__ import annotations

from tests.simulation.network import Network, Weather
from tests.simulation.world import World


def sent(weather: Weather, count: int = 200, *, seed: int = 1) -> tuple[list[int], int]:
    """Which messages from 1 to 2 arrived, in their order; and how often the sender was notified of
    a loss."""
    world = World(seed)
    network = Network(world)
    network.weather = weather
    arrived: list[int] = []
    losses: list[int] = []
    for number in range(count):
        network.send(1, 2, lambda number=number: arrived.append(number), lambda: losses.append(1))  # type: ignore[misc]  # mypy infers no lambda with a default
        world.run_for(1)
    world.run_for(10_000)
    return arrived, len(losses)


def test_simulated_network_without_losses_delivers_messages_once() -> None:
    arrived, losses = sent(Weather(delay=(0, 0)))
    assert (arrived, losses) == (list(range(200)), 0)


def test_messages_are_lost_doubled_and_reordered() -> None:
    arrived, losses = sent(Weather(lost=0.3))
    assert 0 < len(arrived) < 200
    assert 0 < losses < 200 - len(arrived), "some are reported, some are not"
    assert len(sent(Weather(twice=0.3))[0]) > 200
    late = sent(Weather(late=0.1))[0]
    assert sorted(late) == list(range(200))
    assert late != sorted(late)


def test_the_same_seed_does_the_same() -> None:
    weather = Weather(lost=0.1, twice=0.1, late=0.1)
    assert sent(weather) == sent(weather)
    assert sent(weather) != sent(weather, seed=2)


def test_simulated_network_cut_loses_messages_in_one_direction() -> None:
    world = World(1)
    network = Network(world)
    arrived: list[str] = []
    network.weather = Weather(delay=(5, 5))
    network.send(1, 2, lambda: arrived.append("before"), lambda: None)
    network.cut(1, 2)
    network.send(1, 2, lambda: arrived.append("there"), lambda: None)
    network.send(2, 1, lambda: arrived.append("back"), lambda: None)
    world.run_for(100)
    assert arrived == ["back"]
    network.heal()
    network.send(1, 2, lambda: arrived.append("again"), lambda: None)
    world.run_for(100)
    assert arrived == ["back", "again"]
