package import SyncCore

/// How many files, and their bytes on the disk.
package struct Tally: Hashable, Sendable {
    package var files: Int
    package var bytes: Int64

    package init(files: Int = 0, bytes: Int64 = 0) {
        self.files = files
        self.bytes = bytes
    }

    package static func + (left: Tally, right: Tally) -> Tally {
        Tally(files: left.files + right.files, bytes: left.bytes + right.bytes)
    }
}

/// A tally for each state.
package struct PhotoTallies: Hashable, Sendable {
    private var tallies: [PhotoState: Tally] = [:]

    package init() {}

    package subscript(state: PhotoState) -> Tally {
        get { tallies[state] ?? Tally() }
        set { tallies[state] = newValue == Tally() ? nil : newValue }
    }

    /// What is on the disk: all but the missing and the lost.
    package var onDisk: Tally {
        tallies.reduce(Tally()) { $1.key.isOnDisk ? $0 + $1.value : $0 }
    }

    package static func + (left: PhotoTallies, right: PhotoTallies) -> PhotoTallies {
        PhotoState.allCases.reduce(into: left) { $0[$1] = $0[$1] + right[$1] }
    }
}
