package import FoundationEssentials

/// What one machine of a user tells the others of a share. It stands in the store, below `users/{user}/shares/`, and counts
/// more than what any ledger says. docs/sharing.md has an example.
package protocol ShareNote: Codable, Sendable {
    /// What it tells, for those who find something else in its place.
    static var subject: String { get }

    var version: Int { get }
    var shareId: String { get }
    /// What people call the machine that wrote it.
    var name: String { get set }
    /// When the share was to end by itself, as far as that machine knew: until then the note must not be forgotten.
    var expiresAt: Date { get }
}

package enum ShareNoteLimits {
    package static let currentVersion = 1
    /// Bytes.
    package static let maximumSize = 64 << 10
    fileprivate static let longestText = 200
}

/// Why a note tells nothing but that it is there.
package struct ShareNoteDamage: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
}

extension ShareNote {
    /// - Parameter id: of the share of which it has to tell.
    /// - Throws: ``ShareNoteDamage``. That there is something counts all the same.
    package init(parsing bytes: [UInt8], of id: ShareID) throws(ShareNoteDamage) {
        guard let note: Self = try? ReadableJSON.note(bytes) else {
            throw ShareNoteDamage(description: "it does not tell \(Self.subject)")
        }
        guard note.version <= ShareNoteLimits.currentVersion else {
            throw ShareNoteDamage(description: "it is of a newer version; update this one")
        }
        guard note.shareId == id.description else { throw ShareNoteDamage(description: "it is of another share") }
        self = note
        name = String(name.prefix(ShareNoteLimits.longestText))
    }

    package func encoded() throws -> [UInt8] { try ReadableJSON.text(self) }
}

/// That a person has taken the share back: `users/{user}/shares/{shareId}.ended.json`. Any machine of the user writes it, before
/// anything of the share is removed; from then on none publishes the share, whatever its ledger says.
package struct EndedShare: ShareNote, Hashable {
    package static let subject = "the end of a share"

    package private(set) var version = ShareNoteLimits.currentVersion
    package var shareId: String
    package var endedAt: Date
    package var expiresAt: Date
    /// The id of the machine on which it was taken back.
    package var machine: String
    package var name: String

    package init(_ id: ShareID, endedAt: Date, expiresAt: Date, machine: String, name: String) {
        shareId = id.description
        self.endedAt = endedAt
        self.expiresAt = expiresAt
        self.machine = machine
        self.name = name
    }
}

/// That a machine has taken the share over: `users/{user}/shares/{shareId}.owner-{number}.json`, put where nothing is. They
/// are numbered from 1 without a gap, and the last one tells who has the share; without any it is the machine that made it.
package struct ShareOwner: ShareNote, Hashable {
    package static let subject = "who has a share"

    package private(set) var version = ShareNoteLimits.currentVersion
    package var shareId: String
    package var takenOverAt: Date
    package var expiresAt: Date
    /// The id of the machine that has it from then on.
    package var machine: String
    package var name: String

    package init(_ id: ShareID, takenOverAt: Date, expiresAt: Date, machine: String, name: String) {
        shareId = id.description
        self.takenOverAt = takenOverAt
        self.expiresAt = expiresAt
        self.machine = machine
        self.name = name
    }
}

extension KeyLayout {
    private static let endingOfEnds = ".ended.json"
    private static let beginningOfOwners = ".owner-"

    /// The beginning of the keys of what machines tell each other of shares.
    package var shareNotes: String { "users/\(user)/shares/" }

    package func shareEnd(_ id: ShareID) throws(InvalidName) -> ObjectKey { try shareNote(id, Self.endingOfEnds) }

    /// - Parameter number: of the take-over, from 1.
    package func shareOwner(_ id: ShareID, _ number: Int) throws(InvalidName) -> ObjectKey {
        try shareNote(id, "\(Self.beginningOfOwners)\(number).json")
    }

    private func shareNote(_ id: ShareID, _ ending: String) throws(InvalidName) -> ObjectKey {
        try ObjectKey(segments: ["users", user, "shares", "\(id)\(ending)"])
    }

    /// Of which share's end a key tells; `nil` for other keys.
    package func shareID(ofEnd key: ObjectKey) -> ShareID? {
        key.name(between: shareNotes, Self.endingOfEnds).flatMap { ShareID(String($0)) }
    }

    /// Of which share, and which of its take-overs, a key tells; `nil` for other keys.
    package func shareOwner(of key: ObjectKey) -> (id: ShareID, number: Int)? {
        guard let name = key.name(between: shareNotes, ".json"),
            let middle = name.firstRange(of: Self.beginningOfOwners),
            let id = ShareID(String(name[..<middle.lowerBound]))
        else { return nil }
        let digits = name[middle.upperBound...]
        // As this program writes them: `+1` and `01` are none of its.
        guard let number = Int(digits), number > 0, digits == "\(number)" else { return nil }
        return (id, number)
    }
}
