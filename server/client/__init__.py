"""One connection of a client to a broker or a controller, without I/O: which bytes to send, which
response has arrived, and the steps until the connection may be used.

The shells have the sockets: `server/network/peer_connection.py` for nodes, `pipeline/client/` for
pipelines, and `src/kafkadouble/replay/target.py` for replays.
"""
