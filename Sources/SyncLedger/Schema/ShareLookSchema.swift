/// A migration: of which photos of a share the file decides, and to whom a share is to be sent. It has shipped when you
/// read this: see ``Schema``.
enum ShareLookSchema {
    static let name = "what shares were made of"
    static let all = [files, recipients, links]

    // Where the photo was on the disk when it was chosen, nothing but that very file is shared: what its owner has
    // changed or removed since is not taken from the store. Shares of before are taken for such, unless they wait for
    // the archive.
    private static let files = """
        ALTER TABLE share_photos ADD COLUMN is_local INTEGER NOT NULL DEFAULT 1 CHECK (is_local IN (0, 1));
        UPDATE share_photos SET is_local = 0 WHERE share IN (SELECT number FROM shares WHERE state = 'waiting');
        """

    private static let links = """
        ALTER TABLE shares ADD COLUMN link_end_is_known INTEGER NOT NULL DEFAULT 1 CHECK (link_end_is_known IN (0, 1));
        """

    private static let recipients = """
        ALTER TABLE shares ADD COLUMN recipient TEXT;          -- whatsapp:+49…, sms:+49…, email:…; NULL when it is over
        """
}
