"""What came back from the instances: the samples file, its provenance, histograms, rates and logs, read and checked."""
