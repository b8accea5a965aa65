"""Our engines beside literal tools, in one run on one machine: ratios travel, absolute figures do not."""
