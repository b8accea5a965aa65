"""What all kinds of Amazon FSx have in common: how they are found, awaited, checked, deleted, and counted."""
