/// A migration: offsets of capture times, and of which objects the time was not read since. It has shipped when you read
/// this: see ``Schema``.
///
/// `taken_at` is milliseconds since 1970-01-01T00:00 on the clock of the place. In rows of before (`taken_rules = 0`) it was
/// UTC where the offset was known, and the camera's clock where it was not.
enum CaptureTimeSchema {
    static let name = "offsets of capture times"
    static let all = [
        "ALTER TABLE objects ADD COLUMN taken_offset INTEGER",  // minutes ahead of UTC; NULL: not known
        "ALTER TABLE objects ADD COLUMN taken_rules INTEGER NOT NULL DEFAULT 0",
        "CREATE INDEX objects_taken_before ON objects (id) WHERE taken_rules = 0",
        "ALTER TABLE share_photos ADD COLUMN taken_offset INTEGER",
    ]
}
