"""Kafka's data for pipelines: log directories, the wire, captured traffic and metadata history as Arrow tables, and as sources of Spark.

Rules. Only `pipeline/spark` imports pyspark; everything else serves pandas, polars and DuckDB as well. Servers are talked to over the wire
alone; of `server` only what is pure is imported (file formats, epochs, images).
"""
