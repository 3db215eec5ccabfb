import SyncCore

/// The comparison of a directory's rows with its files: what has to be done, by name. It decides nothing about moves:
/// those need a look at other directories.
struct DirectoryPlan {
    struct Change {
        var row: PhotoRow
        var stamp: FileStamp
    }

    /// Names that no row has.
    private(set) var new: [ScannedFile] = []
    /// Rows whose file has another stamp.
    private(set) var changed: [Change] = []
    /// Rows of vanished files that are back as they were.
    private(set) var returned: [PhotoRow] = []
    /// Rows without a file, and not known as vanished yet.
    private(set) var vanished: [PhotoRow] = []
    /// New or changed files that are not whole yet.
    private(set) var unsettled: [ScannedFile] = []
    private(set) var unchanged = 0

    /// Whether there is nothing to write.
    var isEmpty: Bool { new.isEmpty && changed.isEmpty && returned.isEmpty && vanished.isEmpty }

    init(known: [PhotoRow], files: [ScannedFile], settled: (FileStamp) -> Bool) {
        var rows = Dictionary(known.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for file in files {
            guard let row = rows.removeValue(forKey: file.name.bytes) else {
                if settled(file.stamp) { new.append(file) } else { unsettled.append(file) }
                continue
            }
            if row.stamp == file.stamp {
                if row.isOnDisk { unchanged += 1 } else { returned.append(row) }
            } else if settled(file.stamp) {
                changed.append(Change(row: row, stamp: file.stamp))
            } else {
                unsettled.append(file)
            }
        }
        vanished = rows.values.filter(\.isOnDisk)
    }
}
