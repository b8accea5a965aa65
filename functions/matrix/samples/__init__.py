"""What instances upload, read and checked: samples, their provenance, histograms, rates, logs; and CloudWatch."""
