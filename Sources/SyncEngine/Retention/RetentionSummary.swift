package import SyncCore
package import SystemPackage

/// What a cleanup has come to. It holds no text of any event.
package struct RetentionSummary: Hashable, Sendable {
    /// Why an event was left as it is.
    package struct Issue: Hashable, Sendable {
        /// Stands for the event where it is about a file only.
        package static let noEvent = "-"

        /// ``noEvent`` when it is about a file only.
        package let event: String
        /// The file that it is about; `nil` when it is about none.
        package let file: FilePath?
        package let reason: String
        /// Whether it passes by itself.
        package var waits = false

        /// Whether it is about a file, and no event in it.
        package var isOfFile: Bool { event == Self.noEvent }
    }

    /// The events that were left as they are: counted, and the first of them named.
    package struct Issues: Hashable, Sendable {
        private static let mostNamed = 1_000
        private static let mostReasons = 100

        /// How many of them people are told one by one.
        package static let mostTold = 20

        package private(set) var count = 0
        package private(set) var named: [Issue] = []
        /// How many events there are for each of the first reasons: some name an object, and no two are the same.
        package private(set) var reasons: [String: Int] = [:]

        package var isEmpty: Bool { count == 0 }

        mutating func add(_ issue: Issue) {
            count += 1
            if reasons.count < Self.mostReasons || reasons[issue.reason] != nil {
                reasons[issue.reason, default: 0] += 1
            }
            if named.count < Self.mostNamed { named.append(issue) }
        }
    }

    /// Events whose photos are proven in the archive, and their texts gone.
    package internal(set) var archived = 0
    /// Events whose texts are gone, with or without a photo.
    package internal(set) var deleted = 0
    /// Events that have to wait for something that is no failure: a profile, a program that writes the file.
    package internal(set) var skipped = Issues()
    package internal(set) var errors = Issues()
    /// Why the store as a whole could not be used any more: the rest is left for the next time.
    package internal(set) var outage: StoreError?
    /// Events that are due and wait for that store.
    package internal(set) var waiting = 0

    /// Adds issues about files of which nothing was told yet.
    mutating func add(_ issues: [Issue]) {
        let told = Set((errors.named + skipped.named).compactMap(\.file))
        for issue in issues where !(issue.file.map { told.contains($0) } ?? false) {
            if issue.waits { skipped.add(issue) } else { errors.add(issue) }
        }
    }
}

extension RetentionSummary.Issue {
    /// About a file, and no event in it.
    init(file: FilePath, reason: String, waits: Bool = false) {
        self.init(event: Self.noEvent, file: file, reason: reason, waits: waits)
    }
}
