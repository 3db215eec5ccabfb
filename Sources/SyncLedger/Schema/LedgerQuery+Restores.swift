extension LedgerQuery {
    // Restores
    package static let job = "SELECT \(RestoreJob.columns) FROM restore_jobs WHERE id = ?"
    package static let newestJobs = "SELECT \(RestoreJob.columns) FROM restore_jobs ORDER BY id DESC LIMIT ?"
    /// Its cost is that of the job's items.
    package static let progressOfJob = """
        SELECT SUM(state = 'planned'), SUM(state = 'retrieving'), SUM(state = 'restored'), SUM(state = 'failed'),
            SUM(state = 'expired'), COUNT(saved_at), SUM(size),
            MIN(CASE WHEN state = 'restored' THEN expires_at END), MAX(ready_at),
            SUM(state = 'restored' AND storage_class IN ('GLACIER', 'DEEP_ARCHIVE'))
        FROM restore_items WHERE job_id = ?
        """
    package static let itemsOfJob = "\(items) WHERE items.job_id = ? AND items.id > ? ORDER BY items.id LIMIT ?"
    package static let openItemOfKey = "\(items) WHERE items.key = ? AND items.state IN ('planned', 'retrieving')"
    package static let retrievingItemsOfJob = """
        \(items) WHERE items.job_id = ? AND items.state = 'retrieving' ORDER BY items.id
        """
    /// The first two arguments are a range of jobs, the others a moment before which a claim has lapsed, and now: a claim
    /// from the future is one from before the clock was set back.
    package static let claimableItems = """
        \(RestoreItem.selection) FROM restore_items AS items INDEXED BY restore_items_planned
        JOIN restore_jobs AS jobs ON jobs.id = items.job_id
        WHERE items.state = 'planned' AND items.job_id >= ? AND items.job_id <= ?
        AND (items.claimed_at IS NULL OR items.claimed_at <= ? OR items.claimed_at > ?)
        ORDER BY items.job_id, items.id LIMIT ?
        """
    package static let restoreTallies = "SELECT state, items FROM restore_tallies WHERE items > 0"
    /// A job's items have their ids one after the other, so that the order is that of the ids.
    package static let unsavedItems = """
        \(RestoreItem.selection) FROM restore_jobs AS jobs
        CROSS JOIN restore_items AS items INDEXED BY restore_items_unsaved ON items.job_id = jobs.id
        WHERE jobs.output IS NOT NULL AND items.state = 'restored' AND items.saved_at IS NULL AND items.id > ?
        ORDER BY jobs.id, items.id LIMIT ?
        """
    package static let endedItem = "SELECT id FROM restore_items WHERE state = 'restored' AND expires_at <= ? LIMIT 1"
    package static let endedObject =
        "SELECT id FROM objects WHERE restore_state = 'restored' AND restored_until <= ? LIMIT 1"

    static let ofRestores = [
        job, newestJobs, progressOfJob, itemsOfJob, openItemOfKey, retrievingItemsOfJob,
        claimableItems, restoreTallies, unsavedItems, endedItem, endedObject,
    ]

    private static let items =
        "\(RestoreItem.selection) FROM restore_items AS items JOIN restore_jobs AS jobs ON jobs.id = items.job_id"
}
