"""The values of the options of `serve`, for argparse."""

from __future__ import annotations

import argparse

MOST_BROKERS = 100


def port(text: str) -> int:
    """A port, or 0 for any free one."""
    number = int(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{number} is no port: those go from 0 to 65535")
    return number


def count(text: str) -> int:
    """A number of brokers."""
    number = int(text)
    if not 1 <= number <= MOST_BROKERS:
        raise argparse.ArgumentTypeError(f"{number} brokers: there may be 1 to {MOST_BROKERS}")
    return number


def advertised(text: str) -> tuple[str, int]:
    """The host and the port of HOST:PORT."""
    host, _, digits = text.rpartition(":")
    if not host or not digits.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT")
    return host.removeprefix("[").removesuffix("]"), port(digits)
