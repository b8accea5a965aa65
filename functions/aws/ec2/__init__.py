"""Instances, images and volumes of EC2."""
