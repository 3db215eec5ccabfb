/// A migration: objects are found by the digest of their bytes. It has shipped when you read this: see ``Schema``.
enum StoredDigestSchema {
    static let name = "objects by the digest of their bytes"
    static let all = ["CREATE INDEX objects_by_sha256 ON objects (sha256, key);"]
}
