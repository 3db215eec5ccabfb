package import SyncCore
package import SystemPackage

/// On which drive a file or directory is seen.
package enum SeenDrive: Hashable, Sendable {
    /// - drive: what is there, as far as it tells of itself; `nil` where no drive of the place ever did.
    /// - place: where it begins, below the watched folder.
    /// - isExpected: whether it is the one that photos of the place were found on, as far as is known. That decides
    ///   about those of which no drive is known.
    case found(DriveIdentity?, at: FilePath, isExpected: Bool)
    /// Nothing tells whether the drive that is known of the place is there, or one came or went while files were looked
    /// at: nothing is concluded, and what is new was seen on a drive that nothing is told of.
    case untold
    /// All photos of the place count as found on it.
    case known

    /// Whether a photo is to be looked for on another drive than this one, or nothing says that it is on this one: that
    /// it is not seen tells nothing then.
    /// - Parameters:
    ///   - drive: where the photo was seen last; `nil` where that is not known.
    ///   - directory: that of the photo, below the watched folder.
    package func isOther(than drive: DriveIdentity?, in directory: FilePath) -> Bool {
        guard case .found(let seen, at: let place, isExpected: let isExpected) = self else { return self == .untold }
        guard let drive else { return !isExpected }
        guard let found = seen else { return drive.isLasting }
        // What is mounted in a folder of its own may have been one with what is around it, and the other way round:
        // each is known by the folder of the drive that it begins with.
        var above = place
        while true {
            if found.likeness(to: drive.below(place.relative(to: above))) == .same { return false }
            if above.isEmpty { break }
            above.removeLastComponent()
        }
        var below = directory.relative(to: place)
        while !below.isEmpty {
            if found.below(below).likeness(to: drive) == .same { return false }
            below.removeLastComponent()
        }
        return true
    }

    /// Whether nothing tells if it is this drive, which is not known to be the same.
    package func isUntold(of drive: DriveIdentity) -> Bool {
        guard case .found(let found?, at: _, isExpected: _) = self else { return self != .known }
        return !drive.isLasting || !found.isComparable(to: drive)
    }
}

/// What a directory's rows tell of their drives, beside the one that is seen.
struct DriveComparison {
    let seen: SeenDrive
    private let others: [Int64: Bool]
    /// Those of which nothing tells whether they are the one that is seen.
    private let untold: Set<Int64>
    private let isOtherThanUnknown: Bool
    private let isConclusive: Bool

    /// Whether the one that is seen is the one that is known of the place.
    var isOfPlace: Bool { !isOtherThanUnknown }

    /// - Parameters:
    ///   - directory: below the watched folder.
    ///   - drives: all that are known, as ``DriveTable/all()`` tells.
    ///   - isConclusive: whether anything is to be concluded from what is not seen.
    init(
        _ seen: SeenDrive, in directory: FilePath, among drives: [Int64: DriveIdentity], isConclusive: Bool = true
    ) {
        self.seen = seen
        self.isConclusive = isConclusive
        others = drives.mapValues { seen.isOther(than: $0, in: directory) }
        untold = Set(drives.filter { seen.isUntold(of: $0.value) }.keys)
        isOtherThanUnknown = seen.isOther(than: nil, in: directory)
    }

    /// As ``SeenDrive/isOther(than:in:)``.
    func isOther(_ row: PhotoRow) -> Bool {
        !isConclusive || row.drive.flatMap { others[$0] } ?? isOtherThanUnknown
    }

    /// Whether a file that counted as a copy of a row is not seen, and cannot be read any more: the row waits for that,
    /// or has failed. One in hand is left to who has it.
    func isWithdrawn(_ row: PhotoRow) -> Bool {
        guard isConclusive, case .found = seen, row.supposition?.isOpen == true, row.state != .uploading else {
            return false
        }
        return isElsewhere(row.drive)
    }

    /// Whether a row with this drive, or without one, is to be looked for on another one than the one that is seen, as
    /// ``SeenDrive/isOther(than:in:)``.
    func isElsewhere(_ drive: Int64?) -> Bool { drive.flatMap { others[$0] } ?? isOtherThanUnknown }

    /// Whether a file that was met on this drive tells which one that is by being on the one that is seen.
    func isNamed(_ drive: Int64?) -> Bool { isLasting && drive.map(untold.contains) ?? false }

    /// Whether a drive is known, and is another one for certain.
    func isKnownElsewhere(_ drive: Int64?) -> Bool { isLasting && drive.flatMap { others[$0] } ?? false }

    /// Whether the one that is seen can be recognised later.
    var isLasting: Bool {
        guard case .found(let found?, at: _, isExpected: _) = seen else { return false }
        return found.isLasting
    }

    /// Whether a file on the one that is seen counts as a copy already.
    func isSupposed(_ supposition: CopySupposition?) -> Bool {
        guard case .on(let drive)? = supposition else { return false }
        guard isLasting else { return drive == nil }
        return drive.map { others[$0] == false } ?? false
    }

    /// Whether a row with this drive, or without one, is to have the one that is seen: its file is there. One that is
    /// told in other words is the same.
    func isNews(to drive: Int64?) -> Bool {
        guard case .found(let found?, at: _, isExpected: _) = seen else { return false }
        return drive.flatMap { others[$0] } ?? found.isLasting
    }
}
