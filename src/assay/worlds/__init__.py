"""Simulated truth: rated test sets of which everything is known."""

from assay.worlds.koehn import simulate_judgments
from assay.worlds.moments import Moments, moments
from assay.worlds.profiles import PROFILES, Kind, Profile
from assay.worlds.simulate import simulate
from assay.worlds.world import World

__all__ = [
    "PROFILES",
    "Kind",
    "Moments",
    "Profile",
    "World",
    "moments",
    "simulate",
    "simulate_judgments",
]
