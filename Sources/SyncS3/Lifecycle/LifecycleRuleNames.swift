/// How our rules are called in a bucket, where other people's rules may be, and those of other installations of ours: all
/// of them begin with `sync-agent-`, and those of a store with a prefix end with it.
package struct LifecycleRuleNames: Hashable, Sendable {
    /// Characters of an ID (S3 API Reference, `LifecycleRule`).
    package static let longest = 255
    private static let mark = "sync-agent-"

    /// The store's own; ends with `/`, or is empty.
    package let prefix: String

    package init(prefix: String) {
        self.prefix = prefix
    }

    /// The ID in the bucket.
    package func wire(_ id: String) -> String { id + suffix }

    /// The ID as the rest of the program knows it; `nil` for a rule that is not this store's.
    package func ours(_ wire: String) -> String? {
        guard wire.hasPrefix(Self.mark), wire.hasSuffix(suffix) else { return nil }
        // In the eyes of a store without a prefix, a rule of one that has a prefix.
        if prefix.isEmpty, wire.hasSuffix("/") { return nil }
        return String(wire.dropLast(suffix.count))
    }

    /// The ID of a rule of somebody else. It must not pass for one of ours, as that of a store without a prefix would.
    package func foreign(_ wire: String) -> String {
        wire.hasPrefix(Self.mark) && !wire.hasSuffix("/") ? "\(wire) in /" : wire
    }

    private var suffix: String { prefix.isEmpty ? "" : " in \(prefix)" }
}
