import SyncCore

/// Tags of an object, as the header `x-amz-tagging` has them (S3 User Guide, "Categorizing your objects using tags").
package struct S3Tags: Hashable, Sendable {
    package let values: [String: String]

    package init(_ values: [String: String] = [:]) {
        self.values = values
    }

    package var isEmpty: Bool { values.isEmpty }

    /// `album=holidays%202026&owner=ana`: a query, by the names; `nil` without tags.
    package var header: String? {
        if values.isEmpty { return nil }
        return values.sorted { $0.key < $1.key }.map { "\($0.key.uriEncoded())=\($0.value.uriEncoded())" }
            .joined(separator: "&")
    }
}
