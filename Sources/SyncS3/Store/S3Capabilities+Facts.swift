import SyncCore

/// What is learned of an endpoint, as texts that outlive the process.
extension S3Capabilities {
    private static let classPrefix = "class "
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
        for name in takenClasses { facts[Self.classPrefix + name.rawValue] = Self.taken }
        for name in provenClasses { facts[Self.classPrefix + name.rawValue] = Self.text(true) }
        for name in refusedClasses { facts[Self.classPrefix + name.rawValue] = Self.text(false) }
        return facts
    }

    /// Takes over what an earlier process learned. What it does not know is left out.
    mutating func recall(_ facts: [String: String]) {
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
