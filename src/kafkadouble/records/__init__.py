"""Records of topics: writing, reading and selecting them."""
