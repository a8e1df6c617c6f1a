"""Designs: how segments are chosen, and what follows from it for estimates.

One module per family of designs, one class per design. A class holds the names of the design, its
parameters, how it draws (its plan) with the exact probability of every segment, the variance
of an estimate, and how it is described to people. Modules of this package are found by themselves:
a new design is one new file with a subclass of :class:`assay.designs.base.SamplingDesign`.
"""
