"""Charts as SVG: where values stand on their axes, and the marks that are drawn there."""
