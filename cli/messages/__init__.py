"""Messages of a command: errors with a way out, and how the terminal shows them."""
