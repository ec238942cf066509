"""Recordings: captures with frames, which are sent again to another Kafka (`kafkadouble replay`), or
answered from (`kafkadouble scripted`). Imported only for these."""
