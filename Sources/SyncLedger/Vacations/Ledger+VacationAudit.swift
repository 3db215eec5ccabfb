extension Ledger {
    /// Vacations whose counts differ from their photos, for ``check()``.
    static let vacationAudit = """
        SELECT state || ' photos of vacation ' || vacation, SUM(files), 0, SUM(rows), 0 FROM (
            SELECT id AS vacation, 'waiting' AS state, waiting AS files, 0 AS rows FROM vacations
            UNION ALL SELECT id, 'uploaded', uploaded, 0 FROM vacations
            UNION ALL SELECT id, 'failed', failed, 0 FROM vacations
            UNION ALL SELECT id, 'missing', missing, 0 FROM vacations
            UNION ALL
            SELECT directories.vacation_id,
                CASE WHEN state IN ('pending', 'uploading') THEN 'waiting' WHEN state = 'lost' THEN 'missing' ELSE state END,
                0, COUNT(*)
            FROM directories CROSS JOIN photos ON photos.directory_id = directories.id
            WHERE directories.vacation_id IS NOT NULL AND photos.state <> 'skipped'
            AND photos.name <> CAST('vacation.json' AS BLOB)
            GROUP BY 1, 2
        ) GROUP BY vacation, state HAVING SUM(files) <> SUM(rows)
        """
}
