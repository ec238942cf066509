"""One attack, as `running.under_attack` starts it."""

import sys

from .table import ATTACKS

name, host, port, scale = sys.argv[1:]
ATTACKS[name].run((host, int(port)), float(scale))
