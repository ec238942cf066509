"""What a double is without its verbs: what runs, its clock, its users, and how verbs reach it."""
