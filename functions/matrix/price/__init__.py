"""What it costs: the price book, and how AWS's price list and Spot prices are read."""
