import FoundationEssentials

/// How machines write what they tell each other through the store: JSON that a person can read, with times as of RFC 3339.
enum NoteJSON {
    static func text(_ note: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return Array(try encoder.encode(note)) + Array("\n".utf8)
    }

    /// - Throws: `DecodingError`.
    static func note<Note: Decodable>(_ text: [UInt8]) throws -> Note {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(Note.self, from: Data(text))
    }
}
