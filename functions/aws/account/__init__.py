"""Facts of the account and region: quotas, prices, Spot."""
