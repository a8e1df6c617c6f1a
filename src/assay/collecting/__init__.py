"""Collecting ratings: who rates what, blind sheets, and what came back."""
