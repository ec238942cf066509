"""The data pipeline held against what it reads elsewhere: an Apache Kafka of this machine, and its
own connector of Spark."""
