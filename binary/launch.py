"""What the binary runs.

The binary is two processes: the first unpacks Python, and the second, which prints its `pid`, is
the program. Signals reach it through the first. On Linux it is also killed with the first.
"""

import ctypes
import signal
import sys

from kafkadouble.__main__ import main

PR_SET_PDEATHSIG = 1

if sys.platform == "linux":
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
raise SystemExit(main())
