"""Clusters of Apache Kafka's nodes and ours together: kafkadouble as controller of Apache Kafka's
brokers, and as a voter beside its controllers.

`kinds` has the programs that can run a node, `plan` its settings, `node` is one node, `mixed` a
cluster of them, `quorum` asks its controllers for their quorum, `deeds` is what clients do with its
brokers, `logs` reads its metadata logs. Tests with the fixture `ours` run on our controllers, and
with `--controllers local` on Apache Kafka's: what passes there must pass here.
"""
