import SyncCore

extension TierRule {
    /// The rule as PutBucketLifecycleConfiguration takes it (S3 API Reference), its elements in the order of the schema.
    /// - Parameters:
    ///   - id: the one in the bucket.
    ///   - storePrefix: put before the rule's own.
    ///   - space: what each name gets before a colon; empty for none.
    func document(id: String, below storePrefix: String, space: String) -> String {
        let tag = { (name: String, content: String) in
            let name = space.isEmpty ? name : "\(space):\(name)"
            return "<\(name)>\(content)</\(name)>"
        }
        var parts = [
            tag("ID", id.xmlEscaped), tag("Filter", filter(below: storePrefix, tag)), tag("Status", "Enabled"),
        ]
        if let transition {
            let days = tag("Days", "\(transition.afterDays)")
            let storageClass = tag("StorageClass", transition.storageClass.rawValue.xmlEscaped)
            parts.append(tag("Transition", days + storageClass))
        }
        if let expireAfterDays { parts.append(tag("Expiration", tag("Days", "\(expireAfterDays)"))) }
        if let expireEarlierAfterDays {
            parts.append(tag("NoncurrentVersionExpiration", tag("NoncurrentDays", "\(expireEarlierAfterDays)")))
        }
        if let abortUploadsAfterDays {
            parts.append(
                tag("AbortIncompleteMultipartUpload", tag("DaysAfterInitiation", "\(abortUploadsAfterDays)")))
        }
        return tag("Rule", parts.joined())
    }

    /// `And` only around two terms. A rule for all says so with an empty prefix, which more stores take than no term.
    private func filter(below storePrefix: String, _ tag: (String, String) -> String) -> String {
        let prefix = storePrefix + self.prefix
        guard let largerThan else { return tag("Prefix", prefix.xmlEscaped) }
        let size = tag("ObjectSizeGreaterThan", "\(largerThan)")
        return prefix.isEmpty ? size : tag("And", tag("Prefix", prefix.xmlEscaped) + size)
    }
}
