"""Check a deployed stack in steps, from free to cheap, and compare the observations with the assumptions."""
