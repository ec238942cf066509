"""How a client connects to a double, as its own library writes it."""
