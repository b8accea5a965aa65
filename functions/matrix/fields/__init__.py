"""What fields of a matrix are made of: types of fields, AWS's limits, fleets."""
