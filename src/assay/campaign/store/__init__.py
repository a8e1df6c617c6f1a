"""Where a campaign is kept: SQLite in its folder, or PostgreSQL by address. The only room with SQL."""
