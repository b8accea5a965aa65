"""Requests held against AWS's service models, as the services hold them."""
