import SyncCore

// What a catalogue tells of a file, as long as no scan of this ledger has met that.

extension FileStamp {
    /// Whether it is what a catalogue tells of a file that was never seen on this disk: size and time alone.
    var isOfCatalog: Bool { device == 0 && inode == 0 }

    /// The condition for ``isOfCatalog``.
    static let isOfCatalog = "(photos.device = 0 AND photos.inode = 0)"

    /// Whether the file may be the one that a catalogue tells of. Its content was not read: who looks at it later does that.
    func isAs(catalogued other: FileStamp) -> Bool {
        other.isOfCatalog && size == other.size && modified == other.modified
    }
}

extension PhotoRow {
    /// Whether a catalogue tells of its file, and no scan has met it.
    var isOnlyCatalogued: Bool { state == .missing && isStored && stamp.isOfCatalog }
    /// Whether its file was met on the disk, and is believed to be there. What a catalogue alone told of is not, while the
    /// first file with its name may still be growing.
    var wasMet: Bool { isKept && !(isHeld && stamp.isOfCatalog) }

    /// The condition for ``wasMet``.
    static let wasMet = """
        photos.state <> 'missing' AND photos.state <> 'lost' AND photos.gone = 0
        AND (photos.object_id IS NOT NULL OR photos.state IN ('pending', 'uploading'))
        AND NOT (\(FileStamp.isOfCatalog) AND \(held))
        """
}
