"""A double without its verbs: the run, the clock, the users, and the way of verbs to them."""
