"""The self-proof: known truths through the whole system, and whether the report tells them again."""
