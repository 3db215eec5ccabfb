import FoundationEssentials
import GRDB

/// A migration: the key of pseudonyms. It has shipped when you read this: see ``Schema``.
enum PseudonymSchema {
    static let name = "the key of pseudonyms"

    /// Bytes.
    private static let length = 32

    static func migrate(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE pseudonym_key (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    key BLOB NOT NULL CHECK (length(key) = 32)
                ) STRICT;
                """)
        var random = SystemRandomNumberGenerator()
        let key = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        try db.execute(sql: "INSERT INTO pseudonym_key VALUES (1, ?)", arguments: [Data(key)])
    }
}
