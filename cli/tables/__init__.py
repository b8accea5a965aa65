"""Tables and charts that a command prints."""
