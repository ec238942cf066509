"""The older releases of Kafka that a mixed quorum is made of."""

from __future__ import annotations

RELEASES = {"4.3.1": "4.3", "4.0.2": "4.0", "3.9.2": "3.9"}
"""The release of a node, and the newest metadata version that its cluster can have."""
