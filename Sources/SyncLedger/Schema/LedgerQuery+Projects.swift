extension LedgerQuery {
    package static let projectsOfFolder = """
        SELECT \(KnownProject.columns) FROM projects WHERE folder = ? ORDER BY id
        """
    package static let project = "SELECT \(KnownProject.columns) FROM projects WHERE folder = ? AND id = ?"
    /// Projects that are to be given up and were not told yet.
    package static let projectsToGiveUp = """
        SELECT \(KnownProject.columns) FROM projects
        WHERE folder = ? AND status = 'Processing' AND created_at < ? AND given_up_at IS NULL
        """
    package static let versionsOfProject = """
        SELECT \(ObjectRecord.columns) FROM project_versions
        JOIN objects ON objects.key = project_versions.key
        WHERE project_versions.project_id = ? ORDER BY project_versions.key DESC
        """

    package static let versionsInUse = """
        SELECT \(ObjectRecord.columns) FROM project_versions
        JOIN objects ON objects.key = project_versions.key
        WHERE project_versions.project_id = ? AND EXISTS (SELECT 1 FROM photos WHERE photos.object_id = objects.id)
        """
    /// The last two arguments are `{id}.` and `{id}/`: names that begin with the id and a dot.
    package static let imagesOfProject = """
        SELECT CAST(name AS TEXT) FROM photos
        WHERE directory_id = ? AND name >= ? AND name < ? AND state NOT IN ('missing', 'lost')
        """
    /// Arguments as of ``imagesOfProject``.
    package static let statesOfProjectImages = """
        SELECT CAST(name AS TEXT), state FROM photos
        WHERE directory_id = ? AND name >= ? AND name < ? AND state NOT IN ('missing', 'lost')
        """
    package static let firstUnsynced = """
        SELECT 1 FROM photos WHERE folder_id = ? AND state = 'pending' AND error IS NOT ? LIMIT 1
        """

    package static let unfinishedImages = """
        SELECT COUNT(*) FROM photos WHERE folder_id = ? AND state = 'pending' AND error = ?
        """

    static let ofProjects = [
        projectsOfFolder, project, projectsToGiveUp, versionsOfProject, versionsInUse, imagesOfProject,
        statesOfProjectImages, firstUnsynced, unfinishedImages,
    ]
}
