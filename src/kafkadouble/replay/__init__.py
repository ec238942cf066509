"""Recordings: captures with frames. `kafkadouble replay` sends one to another Kafka, `kafkadouble
scripted` answers from one. Imported only for these."""
