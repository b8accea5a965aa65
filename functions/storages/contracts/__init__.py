"""What a storage offers to the rest of Storage Matrix, by who asks: its model, its metrics, its cloud."""
