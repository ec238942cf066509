"""Reserves file descriptors for files: log segments, indexes, imported modules.

The operating system assigns the lowest free descriptor. A connection whose descriptor is among the
last `RESERVE` of this process is closed, so that these are always left for files.
"""

from __future__ import annotations

import errno
import os

RESERVE = 64
"""The number of reserved descriptors; at most a quarter of all."""

SHARE = 4
"""One port that is not for clients of Kafka has at most one descriptor in so many."""


def most() -> int | None:
    """The limit of descriptors for this process; None when there is no limit."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def is_reserved(descriptor: int) -> bool:
    """Whether a descriptor is reserved for files."""
    limit = most()
    return limit is not None and descriptor >= limit - min(RESERVE, limit // 4)


def share(wanted: int) -> int:
    """The most connections that a port may have which is not for clients of Kafka, up to
    `wanted`."""
    limit = most()
    return wanted if limit is None else max(1, min(wanted, limit // SHARE))


def kept(descriptor: int) -> int:
    """Returns the new descriptor of a connection. A reserved one is closed, and raises OSError."""
    if is_reserved(descriptor):
        os.close(descriptor)
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    return descriptor
