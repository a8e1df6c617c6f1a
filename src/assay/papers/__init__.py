"""The numbers printed in four papers, each beside ours on the data given.

A paper is a folder: ``printed.csv`` has its printed numbers as data, ``ours.py`` computes ours,
and ``compare.py`` beside them joins the two.
"""
