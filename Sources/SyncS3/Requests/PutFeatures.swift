/// What a request that stores something may ask for beyond plain S3, each by a header that a store may refuse.
package struct PutFeatures: OptionSet, Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// `If-None-Match: *`
    package static let condition = PutFeatures(rawValue: 1)
    /// `x-amz-checksum-sha256`
    package static let checksum = PutFeatures(rawValue: 2)
    /// `x-amz-storage-class`
    package static let storageClass = PutFeatures(rawValue: 4)

    /// The one of these that a reply refuses: by its words, else, where the store only says that it does not implement
    /// something, the one that stores most often lack.
    package func refused(by response: HTTPResponse) -> PutFeatures? {
        guard response.status == 400 || response.status == 501 else { return nil }
        let reply = ErrorReply(response)
        if reply.code == "InvalidStorageClass" { return contains(.storageClass) ? .storageClass : nil }
        // 400 has many other reasons; a digest that does not fit also speaks of checksums.
        let isAboutRequest = [nil, "InvalidArgument", "InvalidRequest", "NotImplemented"].contains(reply.code)
        guard response.status == 501 || isAboutRequest else { return nil }
        let words = [reply.message, reply.header, reply.argument].compactMap { $0?.lowercased() }
        for (word, feature) in Self.words where contains(feature) && words.contains(where: { $0.contains(word) }) {
            return feature
        }
        guard response.status == 501 else { return nil }
        return Self.words.map(\.feature).first(where: contains)
    }

    private static let words: [(word: String, feature: PutFeatures)] = [
        ("none-match", .condition), ("checksum", .checksum), ("storage", .storageClass),
    ]
}
