/// A migration: objects as a listing tells them. It has shipped when you read this: see ``Schema``.
enum ListingSchema {
    static let name = "objects as they are listed"
    static let all = [
        // Keys say nothing of when a row came: in their order, nearly each row is in another page of the file.
        """
        CREATE INDEX objects_listed
            ON objects (key, size, storage_class, restore_state, restored_until, etag, problem);
        """
    ]
}
