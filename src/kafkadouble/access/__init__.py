"""Who may connect to a double, and what they may do: users, ACLs, certificates, tokens."""
