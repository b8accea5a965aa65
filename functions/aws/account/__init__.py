"""What the account allows and what AWS charges: quotas, prices, Spot."""
