"""Results made visible, each as one section: terminal, page, Markdown, LaTeX, notebook."""
