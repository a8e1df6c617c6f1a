"""ESTIMATE: the full-test-set score from the ratings that could be afforded."""
