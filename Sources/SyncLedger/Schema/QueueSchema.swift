/// A migration: what servers refused waits, and is no longer failed; commands can ask the agent to try again. It has
/// shipped when you read this: see ``Schema``.
enum QueueSchema {
    static let all = [delayed, refused, asked]

    // Photos that were tried and have to wait: `status` names the oldest of them.
    private static let delayed = """
        CREATE INDEX IF NOT EXISTS photos_delayed ON photos (folder_id, queued_at)
            WHERE state = 'pending' AND error IS NOT NULL AND attempts > 0;
        """

    // What a store had against a photo begins with the request: `put users/ana/photos/….dat: …`. In files of events it
    // stands behind the event's id.
    private static let refused = """
        UPDATE photos SET state = 'pending', attempts = 0, next_try_at = 0
        WHERE state = 'failed' AND (
            error GLOB 'put *: *' OR error GLOB 'put: *' OR error GLOB '*: put *: *'
            OR error GLOB 'head *: *' OR error GLOB 'head: *' OR error GLOB '*: head *: *'
            OR error GLOB 'verify *: *' OR error GLOB '*: verify *: *'
            OR error GLOB 'copy *: *' OR error GLOB 'delete *: *' OR error GLOB '*: delete *: *'
            OR error GLOB 'get *: *' OR error GLOB 'list *: *' OR error GLOB 'list: *' OR error GLOB 'check: *'
        );
        """

    // Counts how often people have asked for another try.
    private static let asked = """
        ALTER TABLE agent ADD COLUMN retries_asked INTEGER NOT NULL DEFAULT 0;
        """
}
