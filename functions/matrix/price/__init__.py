"""Cost of a matrix: the price book, AWS's price list and Spot prices."""
