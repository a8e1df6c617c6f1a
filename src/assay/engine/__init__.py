"""Repeat work: one cell after another, on several processes, or on a dask cluster.

Every sweep of Assay is a list of *cells* and a function ``work(cell, rng) -> record``. Each cell
has its own random generator, spawned in the order of the cells, and records come back in that
order: a sweep gives the same records whoever computes them, and can be read while it runs.

Who computes them is said by one argument, ``workers``, which every function that sweeps has: a
number of processes of this machine, or a :class:`Cluster`, the address of a dask scheduler. On the
command line these are ``--workers 4`` and ``--scheduler tcp://host:8786``.
"""
