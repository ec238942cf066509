"""Which log directories and partitions a rule for disks is about."""

from __future__ import annotations

import os


def is_in(path: str, folder: str) -> bool:
    """Whether a path is this folder, or lies in it."""
    path, folder = os.path.abspath(path), os.path.abspath(folder)
    return os.path.commonpath([path, folder]) == folder
