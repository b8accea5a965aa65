"""What things are called: ids, keys, units, metrics, problems, errors, labels. Uses nothing else of ours."""
