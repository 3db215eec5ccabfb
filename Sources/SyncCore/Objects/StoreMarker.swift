import FoundationEssentials

/// `sync-agent-store.json`: which store this is, wherever it is reached from. An embedded store has it as a file beside
/// its objects; a bucket as an object.
package struct StoreMarker: Codable, Hashable, Sendable {
    package static let format = 1
    package static let name = "sync-agent-store.json"
    /// Bytes.
    package static let maximumSize = 64 << 10

    package var format = Self.format
    /// Tells this store from every other one. Embedded stores of earlier versions get theirs when they are written to.
    package var id: String?
    package var about: String

    package init(id: String, about: String) {
        self.id = id
        self.about = about
    }

    /// Why nobody knows which store it is.
    package enum Damage: Error, Hashable, Sendable {
        case unreadable
        /// Of a newer version.
        case format(Int)
    }

    /// - Throws: ``Damage``.
    package init(parsing bytes: [UInt8]) throws(Damage) {
        // Field by field: each command reads it, and a decoder takes ten times as long.
        guard bytes.count <= Self.maximumSize,
            let fields = JSONObject(whole: Array(bytes.dropFirst(bytes.utf8MarkLength))),
            let format = fields.integer("format").flatMap({ Int(exactly: $0) }), let about = fields.string("about")
        else { throw .unreadable }
        let id = fields.string("id")
        if id == nil, fields.has("id") { throw .unreadable }
        guard format == Self.format else { throw .format(format) }
        (self.id, self.about) = (id, about)
    }

    /// As it is written: for people, too.
    package func encoded() throws -> [UInt8] { try ReadableJSON.text(self) }

    /// A new one.
    package static func makeID() -> String { UUID().uuidString.lowercased() }
}

/// `users/{user}/store-origin.json`: the stores that a store was made from, so that machines that know one of them know
/// that they may go on with this one. The objects of this user were copied, and proven.
package struct StoreOrigin: Codable, Hashable, Sendable {
    package static let version = 1
    /// Bytes.
    package static let maximumSize = 64 << 10

    package var version = Self.version
    /// Of stores, the oldest first.
    package var continues: [String] = []

    package init() {}

    /// What is damaged, or of a newer version, tells nothing.
    package init?(parsing bytes: [UInt8]) {
        guard let origin = try? ReadableJSON.note(bytes) as Self, origin.version == Self.version else { return nil }
        self = origin
    }

    package func encoded() throws -> [UInt8] { try ReadableJSON.text(self) }

    package mutating func note(_ id: String) {
        if !continues.contains(id) { continues.append(id) }
    }
}

extension KeyLayout {
    /// Where a store tells which stores it was made from.
    package func storeOrigin() throws(InvalidName) -> ObjectKey {
        try ObjectKey(segments: ["users", user, "store-origin.json"])
    }
}
