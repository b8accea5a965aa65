"""Messages of a command: errors with a fix, and how the terminal shows them."""
