import FoundationEssentials

/// How machines write what they tell each other through the store, and what they keep in files and answer: JSON that a person
/// can read, with times as of RFC 3339.
package enum ReadableJSON {
    static func text(_ note: some Encodable) throws -> [UInt8] { try json(note) + "\n".utf8 }

    /// The same without the end of the last line: the same value has the same bytes.
    package static func json(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return Array(try encoder.encode(value))
    }

    /// - Throws: `DecodingError`.
    package static func note<Note: Decodable>(_ text: [UInt8]) throws -> Note {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(Note.self, from: Data(text))
    }

    /// Which version a note says it is of: one of a newer version need have nothing else that is known here.
    static func version(_ text: [UInt8]) throws -> Int {
        struct Head: Decodable { let version: Int }
        let head: Head = try note(text)
        return head.version
    }
}
