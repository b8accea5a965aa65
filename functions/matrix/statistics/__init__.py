"""What a fleet's samples say and how sure that is: one module for each question."""
