"""Plans: how each design draws, on arrays. One module per family of designs.

A plan is made once for a test set and a budget. It states the exact inclusion probability of
every segment and draws any number of samples, each a set of windows of the reading order.
"""
