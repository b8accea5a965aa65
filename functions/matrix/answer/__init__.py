"""What the samples mean: results of cells, costs, ceilings, comparisons, fits and the decision."""
