"""The pure core: what a matrix means, what it will cost, how far a run is and what came out. No AWS, no clock."""
