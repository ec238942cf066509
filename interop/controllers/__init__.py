"""Clusters of real and of our nodes together: kafkadouble as controller of Apache Kafka's brokers,
and as a voter beside its controllers.

`kinds` says who can run a node, `plan` what a node is told, `node` is one node, `mixed` a cluster
of them, `quorum` what its controllers tell, `deeds` what clients do with its brokers, `logs` what
lies in its metadata logs. Tests that say `ours` are run on our controllers, and with `--controllers
local` on Apache Kafka's: what passes there must pass here.
"""
