/// All lifecycle rules of a store.
package struct LifecycleConfiguration: Hashable, Sendable {
    package var rules: [LifecycleRule]
    /// What the store says of the smallest object that it moves by itself (S3:
    /// `x-amz-transition-default-minimum-object-size`), given back as it came.
    package var defaultMinimumSize: String?

    package init(rules: [LifecycleRule] = [], defaultMinimumSize: String? = nil) {
        self.rules = rules
        self.defaultMinimumSize = defaultMinimumSize
    }
}

package struct LifecycleRule: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// One that says nothing but what ``TierRule`` can say.
        case own(TierRule)
        /// Any other: kept, and given back byte for byte.
        case foreign(String)
    }

    /// Of at most 255 characters; empty where a foreign rule has none.
    package var id: String
    package var content: Content

    package init(id: String, content: Content) {
        self.id = id
        self.content = content
    }

    /// `nil` for a rule of others.
    package var own: TierRule? {
        if case .own(let rule) = content { rule } else { nil }
    }
}

/// What is to happen to objects as they grow old, for one part of the store.
package struct TierRule: Hashable, Sendable {
    /// Beginning of the keys, below the store's own prefix; empty for all.
    package var prefix: String
    /// Only objects that are larger than so many bytes.
    package var largerThan: Int64?
    package var transition: Transition?
    /// Objects are removed when they are so many days old.
    package var expireAfterDays: Int?
    /// What was replaced or deleted is removed so many days later, where the store keeps earlier versions.
    package var expireEarlierAfterDays: Int?
    /// Uploads in parts that were not finished are taken back after so many days.
    package var abortUploadsAfterDays: Int?

    package struct Transition: Hashable, Sendable {
        package var afterDays: Int
        package var storageClass: StorageClass

        package init(afterDays: Int, storageClass: StorageClass) {
            self.afterDays = afterDays
            self.storageClass = storageClass
        }
    }

    package init(
        prefix: String, largerThan: Int64? = nil, transition: Transition? = nil, expireAfterDays: Int? = nil,
        expireEarlierAfterDays: Int? = nil, abortUploadsAfterDays: Int? = nil
    ) {
        self.prefix = prefix
        self.largerThan = largerThan
        self.transition = transition
        self.expireAfterDays = expireAfterDays
        self.expireEarlierAfterDays = expireEarlierAfterDays
        self.abortUploadsAfterDays = abortUploadsAfterDays
    }
}
