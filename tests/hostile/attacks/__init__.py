"""Attacks on a server, each from its own process, while a well-behaved client works.

    python -m tests.hostile.attacks NAME HOST PORT SCALE

`scale` is 1 for an attack at its full size; the tests run a part of it. An attack ends by itself:
its requests are answered, or its connections are closed. `benchmarks.attacks` measures how much the
well-behaved client is slowed down by each attack at its full size.
"""
