"""Corrections of moto where its answers differ from AWS's."""
