"""An observer of a running quorum, for `kafkadouble observe`.

It fetches the metadata log as a broker does, from a controller's listener. It has no vote and does
not count as a replica. `observer` is the replica and its further requests; `view` is the content of
the log; `tables` and `change` format it; `watching` runs everything.
"""
