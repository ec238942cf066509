"""The fault plane: rules that say which requests are to fail, be late, or lose their connection."""

REQUEST, CONNECTION, LINK, DISK = "request", "connection", "link", "disk"
"""The planes in which rules are armed. `planes.py` says what each knows."""
