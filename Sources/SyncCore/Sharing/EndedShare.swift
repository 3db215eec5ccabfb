package import FoundationEssentials

/// That a person has taken a share back: `users/{user}/shares/{shareId}.ended.json`. Any machine of the user writes it, before
/// anything of the share is removed; from then on none publishes the share, whatever its ledger says. docs/operating.md has an
/// example.
package struct EndedShare: Hashable, Sendable, Codable {
    package static let currentVersion = 1
    /// Bytes.
    package static let maximumSize = 64 << 10
    private static let longestText = 200

    package struct Damage: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    package private(set) var version = Self.currentVersion
    package var shareId: String
    package var endedAt: Date
    /// When the share would have ended by itself, as far as whoever took it back knew: until then it must not be forgotten.
    package var expiresAt: Date
    /// The id of the machine on which it was taken back.
    package var machine: String
    /// What people call that machine.
    package var name: String

    package init(_ id: ShareID, endedAt: Date, expiresAt: Date, machine: String, name: String) {
        shareId = id.description
        self.endedAt = endedAt
        self.expiresAt = expiresAt
        self.machine = machine
        self.name = name
    }

    /// - Parameter id: of the share of which it has to tell.
    /// - Throws: ``Damage``. The share is over all the same: that there is something counts.
    package init(parsing bytes: [UInt8], of id: ShareID) throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        do {
            self = try decoder.decode(EndedShare.self, from: Data(bytes))
        } catch {
            throw Damage(description: "it does not tell the end of a share")
        }
        guard version <= Self.currentVersion else {
            throw Damage(description: "it is of a newer version; update this one")
        }
        guard shareId == id.description else { throw Damage(description: "it is of another share") }
        name = String(name.prefix(Self.longestText))
    }

    package func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return Array(try encoder.encode(self))
    }
}

extension KeyLayout {
    private static let endingOfEnds = ".ended.json"

    /// The beginning of the keys of what machines tell each other of shares.
    package var shareEnds: String { "users/\(user)/shares/" }

    package func shareEnd(_ id: ShareID) throws(InvalidName) -> ObjectKey {
        try ObjectKey(segments: ["users", user, "shares", "\(id)\(Self.endingOfEnds)"])
    }

    /// Of which share's end a key tells; `nil` for other keys.
    package func shareID(ofEnd key: ObjectKey) -> ShareID? {
        guard key.rawValue.hasPrefix(shareEnds), key.rawValue.hasSuffix(Self.endingOfEnds) else { return nil }
        return ShareID(String(key.rawValue.dropFirst(shareEnds.count).dropLast(Self.endingOfEnds.count)))
    }
}
