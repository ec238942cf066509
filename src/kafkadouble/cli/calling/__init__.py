"""How `kafkadouble ctl` names and shows the verbs of a double."""
