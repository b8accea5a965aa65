"""Every statement about a run: one class each, with its code, its data, and its sentence."""
