package import FoundationEssentials

/// What a machine tells the others of its user: `users/{user}/machines/{id}.json`. Nobody but itself writes it. It has no
/// path, no name of a photo, and nothing of events; docs/backup.md has an example.
package struct MachineNote: Hashable, Sendable, Codable {
    package static let currentFormat = 1
    /// Bytes.
    package static let maximumSize = 64 << 10
    private static let longestText = 200

    package struct Damage: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    package private(set) var format = Self.currentFormat
    /// That of its catalogue.
    package var id: String
    /// What people call it.
    package var name: String
    /// Of the program.
    package var version: String
    /// When its last whole pass ended.
    package var lastSyncAt: Date?
    /// Photos that wait, have failed, and are lost.
    package var pending: Int
    package var failed: Int
    package var lost: Int
    /// Ids of machines in whose place it has come.
    package var replaces: [String]
    /// Up to which write of their catalogues; `nil` for none, and in notes of version 1.0.
    package var replacedUpTo: [String: Int]?
    /// The number of the last write of its catalogue; `nil` where it keeps none, or has written none yet, and in notes of
    /// version 1.0.
    package var catalogWrite: Int?

    /// - Parameter replaces: machines in whose place it has come, and up to which write of theirs.
    package init(
        id: String, name: String, version: String, lastSyncAt: Date?, pending: Int, failed: Int, lost: Int,
        replaces: [String: Int] = [:], catalogWrite: Int? = nil
    ) {
        self.id = id
        self.name = String(name.prefix(Self.longestText))
        self.version = String(version.prefix(Self.longestText))
        self.lastSyncAt = lastSyncAt
        self.pending = pending
        self.failed = failed
        self.lost = lost
        self.replaces = replaces.keys.sorted()
        replacedUpTo = replaces.isEmpty ? nil : replaces
        self.catalogWrite = catalogWrite
    }

    /// - Parameter id: of the machine whose note it has to be.
    /// - Throws: ``Damage``.
    package init(parsing bytes: [UInt8], of id: String) throws {
        do {
            self = try ReadableJSON.note(bytes)
        } catch {
            throw Damage(description: "it is no note of a machine")
        }
        guard format <= Self.currentFormat else {
            throw Damage(description: "it is of a newer version; update this one")
        }
        guard self.id == id else { throw Damage(description: "it is the note of another machine") }
        guard pending >= 0, failed >= 0, lost >= 0 else { throw Damage(description: "it counts less than nothing") }
        let writes = [catalogWrite].compactMap(\.self) + (replacedUpTo ?? [:]).values
        guard writes.allSatisfy({ (1...CatalogSegment.highestWrite).contains($0) }) else {
            throw Damage(description: "it tells of a write that no catalogue has")
        }
        name = String(name.prefix(Self.longestText))
        version = String(version.prefix(Self.longestText))
    }

    package func encoded() throws -> [UInt8] { try ReadableJSON.text(self) }
}

extension KeyLayout {
    private static let noteEnding = ".json"

    /// The beginning of the keys of what machines tell.
    package var machines: String { "users/\(user)/machines/" }

    package func machine(_ id: String) throws(InvalidName) -> ObjectKey {
        try ObjectKey(segments: ["users", user, "machines", id + Self.noteEnding])
    }

    /// Whose note a key is; `nil` for other keys.
    package func machineID(of key: ObjectKey) -> String? {
        guard let id = key.name(between: machines, Self.noteEnding), !id.utf8.contains(UInt8(ascii: "/")) else {
            return nil
        }
        return String(id)
    }
}

/// That a machine does, on a day, what one machine does for all of the user's: `users/{user}/jobs/{day}.json`, put where
/// nothing is.
package struct JobClaim: Hashable, Sendable, Codable {
    package private(set) var version = 1
    /// Its id.
    package var machine: String
    package var startedAt: Date

    package init(machine: String, startedAt: Date) {
        self.machine = machine
        self.startedAt = startedAt
    }

    package func encoded() throws -> [UInt8] { try ReadableJSON.text(self) }
}

extension KeyLayout {
    /// The beginning of the keys of claims.
    package var jobs: String { "users/\(user)/jobs/" }

    package func jobClaim(_ day: CalendarDay) throws(InvalidName) -> ObjectKey {
        try ObjectKey(segments: ["users", user, "jobs", "\(day).json"])
    }

    /// Of which day a claim is; `nil` for other keys.
    package func day(ofJobClaim key: ObjectKey) -> CalendarDay? {
        key.name(between: jobs, ".json").flatMap { CalendarDay(String($0)) }
    }
}
