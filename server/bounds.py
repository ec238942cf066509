"""How large a request may be in what it is made of; how large in bytes, `socket.request.max.bytes` says."""

LARGE, MOST_ELEMENTS = 128 * 1024, 50_000
"""How many elements a request larger than this may have. Each of two bytes may become an object of a hundred: without a bound 100 MB of empty
names would take some 4 GB, and the loop for a minute."""
