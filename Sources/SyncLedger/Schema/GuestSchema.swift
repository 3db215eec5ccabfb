/// A migration: photos that others add to shares. It has shipped when you read this: see ``Schema``.
enum GuestSchema {
    static let name = "photos of guests"
    static let all = [
        "ALTER TABLE shares ADD COLUMN takes_guests INTEGER NOT NULL DEFAULT 0 CHECK (takes_guests IN (0, 1))",
        // Why the last attempt to take photos in did not get to its end; NULL: it did.
        "ALTER TABLE shares ADD COLUMN guests_problem TEXT",
        photos,
    ]

    // The share may be forgotten before its guests' photos are decided on: it is named, and not referred to.
    private static let photos = """
        CREATE TABLE guest_photos (
            share TEXT NOT NULL,                               -- a UUID
            slot INTEGER NOT NULL,
            sha256 BLOB NOT NULL,
            size INTEGER NOT NULL,
            content_type TEXT NOT NULL,
            received_at INTEGER NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('waiting', 'accepted', 'refused')),
            decided_at INTEGER,
            path BLOB,                                         -- of the accepted one
            reason TEXT,
            source TEXT,                                       -- the object in the store, and which one of its place
            PRIMARY KEY (share, slot),
            CHECK ((state = 'waiting') = (decided_at IS NULL))
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX guest_photos_waiting ON guest_photos (share) WHERE state = 'waiting';
        """
}
