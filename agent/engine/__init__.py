"""The agent's own load generators: small programs without the agent's threads, SDK or sockets."""
