"""Reproduce the printed numbers of four papers from the data in a folder.

A paper is a folder: ``printed.csv`` holds its printed numbers, ``ours.py`` computes ours, and
``compare.py`` joins the two. The formulas are where Assay uses them; ``docs/methods.md`` lists the
papers' equations with their functions.
"""
