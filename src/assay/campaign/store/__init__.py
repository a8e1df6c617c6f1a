"""Where a campaign is kept: SQLite in its folder, or PostgreSQL. The only room with SQL."""
