"""Charts as SVG: the positions of values on their axes, and their marks."""
