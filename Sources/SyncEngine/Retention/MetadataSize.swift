/// How much user metadata takes in a request: S3 allows 2 KB of it (S3 User Guide, "User-defined object metadata").
enum MetadataSize {
    /// Bytes, of 2,048; the rest is for whoever counts the names with their prefix or the line ends.
    static let limit = 1_900
    /// A value travels percent-encoded: a byte beyond printable ASCII takes three.
    static func bytes(of value: some StringProtocol) -> Int {
        value.utf8.reduce(0) { $0 + ((0x21...0x7E).contains($1) && $1 != UInt8(ascii: "%") ? 1 : 3) }
    }

    static func bytes(of metadata: [String: String]) -> Int {
        metadata.reduce(0) { $0 + $1.key.utf8.count + bytes(of: $1.value) }
    }

    /// As many whole characters of a value as there is room for; `nil` when there is room for none.
    /// - Parameter taken: bytes of the metadata that it stands beside.
    static func cut(_ value: String, as name: String, beside taken: Int) -> String? {
        var room = limit - taken - name.utf8.count
        let cut = value.prefix { character in
            room -= bytes(of: String(character))
            return room >= 0
        }
        return cut.isEmpty ? nil : String(cut)
    }
}
