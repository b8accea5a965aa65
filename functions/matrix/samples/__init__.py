"""Readers and checks of instances' uploads: samples, provenance, histograms, rates, logs; and of CloudWatch's data."""
