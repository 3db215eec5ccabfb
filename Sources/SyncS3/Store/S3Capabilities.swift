package import SyncCore

/// What an endpoint can do beyond plain S3, as far as we know: at first by its kind, then by what it answers.
package struct S3Capabilities: Hashable, Sendable {
    /// What the endpoint makes of `If-None-Match: *` on a put.
    package enum ConditionalPut: String, Hashable, Sendable {
        /// It answers 412 where something is stored: no other check is needed.
        case honoured
        /// Unknown, and a 200 proves nothing: some stores ignore the header and overwrite.
        case unproven
        /// It was seen to overwrite: as unknown, and not to be tried again.
        case ignored
        /// It does not take the header.
        case refused
    }

    package internal(set) var conditionalPut: ConditionalPut
    /// Whether it takes `x-amz-checksum-sha256`, keeps it, and tells it when asked.
    package internal(set) var checksums: Bool
    /// Storage classes that it does not have. What was to go there is stored in its standard class.
    package internal(set) var refusedClasses: Set<StorageClass> = []
    /// Storage classes in which objects were seen after they were copied there.
    package internal(set) var provenClasses: Set<StorageClass> = []
    /// Storage classes in which objects were seen after they were stored there. That says nothing of copies.
    package internal(set) var takenClasses: Set<StorageClass> = []
    /// In which class objects were seen after they were put into one, by that one.
    package internal(set) var putClasses: [StorageClass: StorageClass] = [:]
    /// Whether a copy in place has to name type and metadata.
    package internal(set) var namesMetadataInCopies = false
    /// Whether it takes the header that asks a listing for restores.
    package internal(set) var takesListAttributes = true
    /// Whether a listing has told of a restore: `nil` as long as none has.
    package internal(set) var restoresInLists: Bool?
    /// Whether it has DeleteObjects.
    package internal(set) var deletesMany = true
    /// Whether it takes the element of RestoreObject that names a tier.
    package internal(set) var takesRestoreTiers = true
    /// Whether it was seen to store without the encryption that was asked for.
    package internal(set) var ignoresEncryption = false
    /// Whether a copy was seen to be encrypted as it was asked for: `nil` as long as none was looked at.
    package internal(set) var encryptsCopies: Bool?
    /// What is never left out, whatever the endpoint answers: rather nothing is stored.
    package let demanded: PutFeatures
    /// What the configuration decides, so that nothing is to be learned of it.
    let settled: PutFeatures

    /// Amazon documents conditional writes and checksums. Any other endpoint has to prove the first: until a 412 is seen, in
    /// passing or by ``S3Store/proveCondition(_:at:attributes:_:)``, each conditional put has a HEAD before it and carries
    /// the header too. Checksums prove nothing there that the signed SHA-256 and Content-MD5 do not, and have been refused.
    ///
    /// - Parameters:
    ///   - conditionalPut: what the configuration says of it; `nil` to find out.
    ///   - checksums: likewise.
    ///   - encryption: whether encryption is asked for.
    ///   - tags: whether objects are to have tags.
    package init(
        isAmazon: Bool, conditionalPut: Bool? = nil, checksums: Bool? = nil, encryption: Bool = false,
        tags: Bool = false
    ) {
        self.conditionalPut = conditionalPut.map { $0 ? .honoured : .refused } ?? (isAmazon ? .honoured : .unproven)
        self.checksums = checksums ?? isAmazon
        var demanded: PutFeatures = []
        if conditionalPut == true { demanded.insert(.condition) }
        if checksums == true { demanded.insert(.checksum) }
        if encryption { demanded.insert(.encryption) }
        if tags { demanded.insert(.tags) }
        self.demanded = demanded
        var settled = demanded
        if conditionalPut != nil { settled.insert(.condition) }
        if checksums != nil { settled.insert(.checksum) }
        self.settled = settled
    }

    /// Whether the configuration says that `If-None-Match` is honoured; `nil` where it leaves us to find out.
    package var configuredCondition: Bool? {
        settled.contains(.condition) ? demanded.contains(.condition) : nil
    }

    /// What a put into a class may ask for.
    package func features(for storageClass: StorageClass) -> PutFeatures {
        var features: PutFeatures = []
        if conditionalPut != .refused { features.insert(.condition) }
        if checksums { features.insert(.checksum) }
        // The standard class goes without a header.
        if storageClass != .standard, !refusedClasses.contains(storageClass) { features.insert(.storageClass) }
        features.formUnion(demanded.intersection([.encryption, .tags]))
        return features
    }

    /// Learns from the status of a put that carried the condition.
    package mutating func noteConditionalPut(status: Int) {
        if status == 412, !settled.contains(.condition) { conditionalPut = .honoured }
    }

    /// A put that carried the condition was taken, where something is stored.
    mutating func noteIgnoredCondition() {
        if !settled.contains(.condition), conditionalPut != .refused { conditionalPut = .ignored }
    }

    /// - Parameter storageClass: that of the put that was refused.
    package mutating func noteRefusal(of feature: PutFeatures, storageClass: StorageClass) {
        let feature = feature.subtracting(settled)
        if feature.contains(.condition) { conditionalPut = .refused }
        if feature.contains(.checksum) { checksums = false }
        if feature.contains(.storageClass) { refusedClasses.insert(storageClass) }
    }
}

/// What is learned of an endpoint, as texts that outlive the process.
extension S3Capabilities {
    private static let classPrefix = "class "
    private static let putPrefix = "put "
    /// Nothing is recalled by it: what matters is that it stands in place of a refusal.
    private static let taken = "taken"

    /// One text for each thing that can be learned, by its name. What the configuration says was not learned.
    var facts: [String: String] {
        var facts = [
            "list-attributes": Self.text(takesListAttributes), "delete-many": Self.text(deletesMany),
            "restore-tiers": Self.text(takesRestoreTiers), "copies-name-metadata": Self.text(namesMetadataInCopies),
        ]
        if !settled.contains(.condition) { facts["conditional-put"] = conditionalPut.rawValue }
        if !settled.contains(.checksum) { facts["checksums"] = Self.text(checksums) }
        if let encryptsCopies { facts["encrypted-copies"] = Self.text(encryptsCopies) }
        if let restoresInLists { facts["restores-in-lists"] = Self.text(restoresInLists) }
        for (wanted, seen) in putClasses { facts[Self.putPrefix + wanted.rawValue] = seen.rawValue }
        for name in takenClasses { facts[Self.classPrefix + name.rawValue] = Self.taken }
        for name in provenClasses { facts[Self.classPrefix + name.rawValue] = Self.text(true) }
        for name in refusedClasses { facts[Self.classPrefix + name.rawValue] = Self.text(false) }
        return facts
    }

    /// Takes over what an earlier process learned. What it does not know is left out.
    mutating func load(_ facts: [String: String]) {
        for (name, text) in facts {
            switch name {
            case "conditional-put":
                if let found = ConditionalPut(rawValue: text), !settled.contains(.condition) { conditionalPut = found }
            case "checksums" where settled.contains(.checksum): break
            case "checksums": checksums = Self.flag(text) ?? checksums
            case "list-attributes": takesListAttributes = Self.flag(text) ?? takesListAttributes
            case "delete-many": deletesMany = Self.flag(text) ?? deletesMany
            case "restore-tiers": takesRestoreTiers = Self.flag(text) ?? takesRestoreTiers
            case "encrypted-copies": encryptsCopies = Self.flag(text)
            case "copies-name-metadata": namesMetadataInCopies = Self.flag(text) ?? namesMetadataInCopies
            case "restores-in-lists": restoresInLists = Self.flag(text)
            case _ where name.hasPrefix(Self.putPrefix):
                putClasses[StorageClass(rawValue: String(name.dropFirst(Self.putPrefix.count)))] = StorageClass(
                    rawValue: text)
            default:
                guard name.hasPrefix(Self.classPrefix), let isThere = Self.flag(text) else { continue }
                let storageClass = StorageClass(rawValue: String(name.dropFirst(Self.classPrefix.count)))
                if isThere { provenClasses.insert(storageClass) } else { refusedClasses.insert(storageClass) }
            }
        }
    }

    private static func text(_ flag: Bool) -> String { flag ? "yes" : "no" }

    private static func flag(_ text: String) -> Bool? {
        switch text {
        case "yes": true
        case "no": false
        default: nil
        }
    }
}
