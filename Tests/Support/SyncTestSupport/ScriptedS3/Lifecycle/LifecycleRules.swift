/// What Amazon demands of lifecycle rules, as far as its reference tells (PutBucketLifecycleConfiguration).
enum LifecycleRules {
    private static let most = 1_000
    private static let longestID = 255
    private static let actions = [
        "Transition", "Expiration", "NoncurrentVersionTransition", "NoncurrentVersionExpiration",
        "AbortIncompleteMultipartUpload",
    ]
    private static let transitionClasses = [
        "GLACIER", "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING", "DEEP_ARCHIVE", "GLACIER_IR",
    ]

    static func check(_ rules: [XMLElement]) throws(S3Failure) {
        guard !rules.isEmpty, rules.count <= most else { throw .malformedXML }
        let ids = rules.compactMap { $0.first("ID")?.text }
        guard Set(ids).count == ids.count else {
            throw S3Failure(400, "InvalidArgument", "Rule ID must be unique. Found same ID for more than one rule")
        }
        guard ids.allSatisfy({ $0.utf8.count <= longestID }) else {
            throw S3Failure(400, "InvalidArgument", "ID length should not exceed allowed limit of 255")
        }
        for rule in rules { try check(rule) }
    }

    private static func check(_ rule: XMLElement) throws(S3Failure) {
        let status = rule.first("Status")?.text
        guard status == "Enabled" || status == "Disabled" else { throw .malformedXML }
        // Exactly one of the two: Prefix beside Filter is the old form.
        guard (rule.first("Filter") == nil) != (rule.first("Prefix") == nil) else { throw .malformedXML }
        if let filter = rule.first("Filter"), filter.children.count > 1 { throw .malformedXML }
        guard rule.children.contains(where: { actions.contains($0.name) }) else {
            throw S3Failure(
                400, "InvalidRequest", "At least one action needs to be specified in a rule")
        }
        for transition in rule.all("Transition") { try check(transition: transition) }
    }

    private static func check(transition: XMLElement) throws(S3Failure) {
        let storageClass = transition.first("StorageClass")?.text ?? ""
        guard transitionClasses.contains(storageClass) else { throw .malformedXML }
        guard (transition.first("Days") == nil) != (transition.first("Date") == nil) else { throw .malformedXML }
        guard let text = transition.first("Days")?.text else { return }
        guard let days = Int(text), days >= 0 else {
            throw S3Failure(400, "InvalidArgument", "'Days' in Transition action must be nonnegative")
        }
        if storageClass.hasSuffix("_IA"), days < 30 {
            throw S3Failure(
                400, "InvalidArgument",
                "'Days' in Transition action must be greater than or equal to 30 for storageClass '\(storageClass)'")
        }
    }
}
