import SyncCore

/// User metadata as headers: `x-amz-meta-NAME: value`.
///
/// S3 takes raw UTF-8 for Latin-1 and gives back something else, so values travel percent-encoded, in printable ASCII.
package enum S3Metadata {
    static let headerPrefix = "x-amz-meta-"

    /// Printable ASCII stays readable; `%`, spaces and all the rest become `%XX`.
    package static func encode(_ value: String) -> String {
        value.percentEncoded { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "%") }
    }

    /// A value that some other program wrote, and that is not percent-encoded, comes back as it is.
    package static func decode(_ value: String) -> String {
        value.percentDecoded() ?? value
    }

    /// Whether a name can stand in a header as it is (RFC 9110, 5.6.2) and comes back the same (S3 lower-cases it).
    package static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0.isAlphanumeric && !$0.isUppercase || "-_.".utf8.contains($0) }
    }

    /// All user metadata of a reply, names in lower case.
    package static func values(in headers: HTTPHeaders) -> [String: String] {
        var values: [String: String] = [:]
        for field in headers.fields {
            let name = field.name.lowercased()
            guard name.hasPrefix(headerPrefix) else { continue }
            values[String(name.dropFirst(headerPrefix.count))] = decode(field.value)
        }
        return values
    }
}

/// How the store is asked to encrypt what it keeps (S3 User Guide, "Protecting data with server-side encryption").
package enum S3Encryption: Hashable, Sendable {
    /// As the bucket does by itself: nothing is asked for.
    case byBucket
    /// SSE-S3: with keys of the store's own.
    case ownKeys
    /// SSE-KMS.
    /// - `key`: an id or ARN; `nil` for the account's key for S3.
    case keyService(key: String?)

    /// What goes with each request that makes an object: a put, a copy, the beginning of an upload in parts.
    package var headers: HTTPHeaders {
        switch self {
        case .byBucket: return [:]
        case .ownKeys: return [Self.header: "AES256"]
        case .keyService(let key):
            var headers: HTTPHeaders = [Self.header: "aws:kms"]
            if let key { headers[Self.keyHeader] = key }
            return headers
        }
    }

    /// Whether the reply to such a request says that it was done. A store that does not know the headers says nothing.
    package func isConfirmed(by headers: HTTPHeaders) -> Bool {
        switch self {
        case .byBucket: true
        case .ownKeys: headers[Self.header] == "AES256"
        case .keyService: headers[Self.header] == "aws:kms"
        }
    }

    /// Whether an object that is there already, by its HEAD, is encrypted so or better.
    package func isMet(by headers: HTTPHeaders) -> Bool {
        switch self {
        case .byBucket: true
        case .ownKeys: headers[Self.header] != nil
        case .keyService: headers[Self.header]?.hasPrefix("aws:kms") == true
        }
    }

    private static let header = "x-amz-server-side-encryption"
    private static let keyHeader = "x-amz-server-side-encryption-aws-kms-key-id"
}

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
    /// `x-amz-tagging`
    package static let tags = PutFeatures(rawValue: 16)

    /// The one of these that a reply refuses: by its words, else, where the store only says that it does not implement
    /// something, the one that stores most often lack.
    /// - Parameter demanded: those of them that are not to be guessed as long as there are others.
    package func refused(by response: HTTPResponse, demanded: PutFeatures = []) -> PutFeatures? {
        guard response.status == 400 || response.status == 501, !response.isPage else { return nil }
        let reply = ErrorReply(response)
        switch reply.code {
        case "InvalidTag": return contains(.tags) ? .tags : nil
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
        let isSilent = reply.code == "InvalidArgument" && words.allSatisfy(\.isEmpty)
        if response.status == 400, isSilent, contains(.storageClass) { return .storageClass }
        guard response.status == 501 else { return nil }
        let order = Self.words.map(\.feature).filter(contains)
        return order.first { !demanded.contains($0) } ?? order.first
    }

    private static let words: [(word: String, feature: PutFeatures)] = [
        ("none-match", .condition), ("checksum", .checksum), ("storage", .storageClass), ("encryption", .encryption),
        ("tag", .tags),
    ]

    /// How a single feature goes over the wire, and the key of the configuration that demands it.
    var demand: (header: String, key: String)? {
        switch self {
        case .condition: ("If-None-Match", "store.conditional_writes")
        case .checksum: ("x-amz-checksum-sha256", "store.checksums")
        case .encryption: ("x-amz-server-side-encryption", "store.encryption")
        case .storageClass: ("x-amz-storage-class", "store.storage_class")
        case .tags: ("x-amz-tagging", "store.tags")
        default: nil
        }
    }
}
