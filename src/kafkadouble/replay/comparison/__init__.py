"""Whether an answer is the recorded one, but for what may differ."""
