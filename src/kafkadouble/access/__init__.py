"""Access to a double and the rights of its clients: users, ACLs, certificates, tokens."""
