extension LedgerQuery {
    // Vacations
    package static let vacationsOfFolder = "\(vacations) WHERE vacations.folder_id = ? ORDER BY vacations.name"
    package static let vacation = "\(vacations) WHERE vacations.id = ?"
    package static let vacationsOfKey = "\(vacations) WHERE vacations.cache_key = ?"
    package static let changedVacations = """
        SELECT \(VacationRecord.columns) FROM vacations INDEXED BY vacations_changed
        JOIN folders ON folders.id = vacations.folder_id
        WHERE vacations.folder_id = ? AND vacations.revision <> vacations.looked_revision AND vacations.waiting = 0
        """
    package static let photosOfVacation = """
        SELECT \(VacationPhotoRow.columns) FROM directories INDEXED BY directories_by_vacation
        CROSS JOIN photos ON photos.directory_id = directories.id
        LEFT JOIN objects ON objects.id = photos.object_id
        WHERE directories.vacation_id = ? AND photos.state <> 'skipped'
        AND photos.name <> CAST('vacation.json' AS BLOB)
        """
    /// Also what is not to be stored.
    package static let filesOfVacation = """
        SELECT \(VacationPhotoRow.columns) FROM directories INDEXED BY directories_by_vacation
        CROSS JOIN photos ON photos.directory_id = directories.id
        LEFT JOIN objects ON objects.id = photos.object_id
        WHERE directories.vacation_id = ?
        """
    package static let manifestsWritten = """
        SELECT digest FROM stale_manifests WHERE cache_key = ?
        UNION ALL SELECT manifest FROM vacations WHERE cache_key = ? AND is_own
        """
    package static let vacationSet = "SELECT photos FROM vacation_sets WHERE vacation_id = ?"

    static let ofVacations = [
        vacationsOfFolder, vacation, vacationsOfKey, changedVacations, photosOfVacation, filesOfVacation,
        manifestsWritten,
        vacationSet, dueOfVacation, nextTryOfVacation,
    ]

    private static let vacations = """
        SELECT \(VacationRecord.columns) FROM vacations JOIN folders ON folders.id = vacations.folder_id
        """
}
