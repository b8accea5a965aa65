"""How a storage grows with its fleet: series over fleet size, the laws that fit them, predictions."""
