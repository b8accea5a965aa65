"""Programs that an agent starts: tools, containers, and their end."""
