"""What a command says: errors with a way out, and how the terminal shows them."""
