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
    /// ``S3Encryption``
    package static let encryption = PutFeatures(rawValue: 8)

    /// The one of these that a reply refuses: by its words, else, where the store only says that it does not implement
    /// something, the one that stores most often lack.
    /// - Parameter demanded: those of them that are not to be guessed as long as there are others.
    package func refused(by response: HTTPResponse, demanded: PutFeatures = []) -> PutFeatures? {
        guard response.status == 400 || response.status == 501 else { return nil }
        let reply = ErrorReply(response)
        switch reply.code {
        case "InvalidStorageClass": return contains(.storageClass) ? .storageClass : nil
        case "InvalidEncryptionAlgorithmError", "KMSNotConfigured", "XMinioKMSNotConfigured":
            return contains(.encryption) ? .encryption : nil
        default: break
        }
        // 400 has many other reasons; a digest that does not fit also speaks of checksums.
        let isAboutRequest = [nil, "InvalidArgument", "InvalidRequest", "NotImplemented"].contains(reply.code)
        guard response.status == 501 || isAboutRequest else { return nil }
        let words = [reply.message, reply.header, reply.argument].compactMap { $0?.lowercased() }
        for (word, feature) in Self.words where contains(feature) && words.contains(where: { $0.contains(word) }) {
            return feature
        }
        // Ceph without the class: 400 InvalidArgument, and not a word more.
        if response.saysNothingOfWhichArgument, contains(.storageClass) { return .storageClass }
        guard response.status == 501 else { return nil }
        let order = Self.words.map(\.feature).filter(contains)
        return order.first { !demanded.contains($0) } ?? order.first
    }

    /// Whether a request with a storage class was refused for the class, as far as a reply tells.
    package static func isClassRefused(by response: HTTPResponse) -> Bool {
        PutFeatures.storageClass.refused(by: response) == .storageClass
    }

    private static let words: [(word: String, feature: PutFeatures)] = [
        ("none-match", .condition), ("checksum", .checksum), ("storage", .storageClass), ("encryption", .encryption),
    ]

    /// How a single feature goes over the wire, and the key of the configuration that demands it.
    var demand: (header: String, key: String)? {
        switch self {
        case .condition: ("If-None-Match", "store.conditional_writes")
        case .checksum: ("x-amz-checksum-sha256", "store.checksums")
        case .encryption: ("x-amz-server-side-encryption", "store.encryption")
        default: nil
        }
    }
}

extension HTTPResponse {
    fileprivate var saysNothingOfWhichArgument: Bool {
        guard status == 400 else { return false }
        let reply = ErrorReply(self)
        return reply.code == "InvalidArgument"
            && [reply.message, reply.header, reply.argument].allSatisfy { $0?.isEmpty ?? true }
    }
}
