"""The self-proof: run known truths through the whole system and check that the report finds them."""
