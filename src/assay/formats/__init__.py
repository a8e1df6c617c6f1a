"""Other tools' files, read as Assay's tables and written from them; one module per tool."""
