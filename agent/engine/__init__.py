"""The agent's own load generators: small programs without threads, SDK or sockets of the agent beside them."""
