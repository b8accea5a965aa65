"""Corrections of moto: where it answers otherwise than AWS."""
