"""Analysis of samples: results of cells, costs, bottlenecks, comparisons, fits and the recommendation."""
