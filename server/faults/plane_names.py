"""The names of the planes in which rules are armed. `planes.py` says what each knows."""

REQUEST, CONNECTION, LINK, DISK = "request", "connection", "link", "disk"
