"""The console: a run in the browser while it goes on, as a matrix, a graph, a state and a fleet."""
