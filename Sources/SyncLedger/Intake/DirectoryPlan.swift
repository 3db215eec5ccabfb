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
    /// Rows of an older ledger whose file is as it was, as far as they know, and tells more.
    private(set) var completed: [Change] = []
    /// Rows of vanished files that are back as they were.
    private(set) var returned: [PhotoRow] = []
    /// Rows without a file, and not known as vanished yet.
    private(set) var vanished: [PhotoRow] = []
    /// New or changed files that are not whole yet.
    private(set) var unsettled: [ScannedFile] = []
    private(set) var unchanged = 0

    private let files: [ScannedFile]
    private var isKnown: [Bool]
    private var indexes: [[UInt8]: Int]

    /// Whether there is nothing to write.
    var isEmpty: Bool {
        new.isEmpty && changed.isEmpty && completed.isEmpty && returned.isEmpty && vanished.isEmpty
    }

    init(known: [PhotoRow], files: [ScannedFile], settled: (FileStamp) -> Bool) {
        self.init(files: files)
        for row in known { meet(row, settled) }
        finish(settled)
    }

    /// A plan that is still to ``meet(_:_:)`` each row of the directory, and then to ``finish(_:)``. Rows are not kept, but
    /// for those that something has to be done about: a folder of a million files is held once, and not three times.
    init(files: [ScannedFile]) {
        self.files = files
        isKnown = [Bool](repeating: false, count: files.count)
        indexes = Dictionary(minimumCapacity: files.count)
        for (index, file) in files.enumerated() { indexes[file.name.bytes] = index }
    }

    mutating func meet(_ row: PhotoRow, _ settled: (FileStamp) -> Bool) {
        guard let index = indexes[row.name] else {
            if row.isOnDisk { vanished.append(row) }
            return
        }
        isKnown[index] = true
        compare(row, with: files[index], settled)
    }

    mutating func finish(_ settled: (FileStamp) -> Bool) {
        for (file, isKnown) in zip(files, isKnown) where !isKnown {
            if settled(file.stamp) { new.append(file) } else { unsettled.append(file) }
        }
        indexes = [:]
    }

    private mutating func compare(_ row: PhotoRow, with file: ScannedFile, _ settled: (FileStamp) -> Bool) {
        if file.stamp.isUntouched(since: row.stamp) {
            if row.stamp != file.stamp { completed.append(Change(row: row, stamp: file.stamp)) }
            if row.isOnDisk { unchanged += 1 } else { returned.append(row) }
        } else if settled(file.stamp) {
            changed.append(Change(row: row, stamp: file.stamp))
        } else {
            unsettled.append(file)
        }
    }
}
