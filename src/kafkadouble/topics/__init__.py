"""Topics and their partitions: what they are, where their replicas lie, and who leads them."""
