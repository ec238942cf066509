"""Runs attacks in their own processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..ports import PLAINTEXT, addresses, every_port
from ..sockets import Broker, serving
from .exchanges import TIMEOUT_S, Address
from .table import ATTACKS

NICE = ("nice", "-n", "19")
"""An attacker is on another machine: it does not take the processor from the broker."""


@contextmanager
def attacked(names: Sequence[str]) -> Iterator[tuple[Broker, dict[str, Address]]]:
    """A broker with what these attacks need, and its ports."""
    attacks = [ATTACKS[name] for name in names]
    has_ports = any(attack.port != PLAINTEXT for attack in attacks)
    options = dict.fromkeys(attack.options for attack in attacks if attack.options)
    words = [word for option in options for word in option]
    with serving(*words, *(every_port() if has_ports else ())) as broker:
        yield broker, addresses(broker) if has_ports else {PLAINTEXT: broker.address}


@contextmanager
def under_attack(address: Address, name: str, scale: float) -> Iterator[subprocess.Popen[str]]:
    """Runs an attack in its own process, from its start to its end."""
    host, port = address
    command = [*NICE, sys.executable, "-m", __package__, name, host, str(port), str(scale)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        yield process
        _, text = process.communicate(timeout=2 * TIMEOUT_S)
    assert process.returncode == 0, text
