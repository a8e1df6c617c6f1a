"""A folder with ``assay.toml``: what was asked, where its files are, what was done."""
