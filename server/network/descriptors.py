"""The descriptors that connections leave to files: log segments, indexes, modules that are imported.

A system gives out the lowest descriptor that is free. Connections whose descriptor is among the last
`RESERVE` that this process may have are not kept, so that those are always left for files.
"""

from __future__ import annotations

import errno
import os

RESERVE = 64
"""Descriptors; no more than a quarter of all."""


def most() -> int | None:
    """How many this process may have; None where the system has no such limit."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def is_reserved(descriptor: int) -> bool:
    """Whether it is one of those that are left to files."""
    limit = most()
    return limit is not None and descriptor >= limit - min(RESERVE, limit // 4)


def kept(descriptor: int) -> int:
    """A new descriptor of a connection. OSError, and it is closed, when it is reserved."""
    if is_reserved(descriptor):
        os.close(descriptor)
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    return descriptor
