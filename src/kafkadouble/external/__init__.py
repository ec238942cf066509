"""A Kafka that is not a double, with the verbs of KafkaDouble that it can serve by its own APIs.

`real_kafka.py` has the verbs, and `served.py` decides each of them. The verbs are those of
`kafkadouble.verbs`: they are given what stands for the brokers (`remote/remote_cluster.py`) and for
their thread (`remote/remote_running.py`), whose state is read from the Kafka by requests.
`local/local_kafka.py` starts a Kafka on this machine.
"""
