"""An observer of a running quorum: behind `kafkadouble observe`.

It follows the metadata log as a broker does, without a vote and without being counted, over a controller's listener. `observer` is the
replica and what it asks besides; `view` is what the log says; `tables` and `change` are how that is shown; `watching` runs it all.
"""
