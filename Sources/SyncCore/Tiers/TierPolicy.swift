package import FoundationEssentials

/// What is to become of our objects as they grow old: the one source of the bucket's rules, of what the agent moves by
/// itself, and of the class that an object is expected in.
package struct TierPolicy: Hashable, Sendable {
    /// Where old photos go.
    package static let archive = StorageClass.deepArchive
    /// A share's objects are deleted by whoever shared them; the rule comes a day later, for what was forgotten.
    package static let shareGraceDays = 1
    /// In a bucket with versions, deleting only hides: what was revoked is to be gone.
    package static let earlierShareDays = 1
    package static let abortUploadsAfterDays = 7
    private static let sharesID = "sync-agent-shares"
    private static let uploadsID = "sync-agent-uploads"

    package let mode: TierMode
    /// 0: at the next pass.
    package let archiveAfterDays: Int
    package let floor: ArchiveFloor
    package let shareExpireDays: Int
    /// What is archived. Kept, because a million objects may be asked about.
    private let places: [Place]

    private struct Place: Hashable {
        var id: String
        var prefix: String
    }

    /// - Parameter user: valid for ``KeyLayout``.
    package init(
        user: String, mode: TierMode, archiveAfterDays: Int, floor: ArchiveFloor, shareExpireDays: Int
    ) {
        self.mode = mode
        self.archiveAfterDays = archiveAfterDays
        self.floor = floor
        self.shareExpireDays = shareExpireDays
        places = [
            Place(id: "sync-agent-photos-\(user)", prefix: "users/\(user)/photos/"),
            Place(id: "sync-agent-originals-\(user)", prefix: "users/\(user)/originals/"),
            Place(id: "sync-agent-gallery-\(user)", prefix: "gallery-archive/\(user)/"),
        ]
    }

    /// The rules that archive, whoever carries them out; none when nobody is to, or when it pays for no object.
    package var archiveRules: [LifecycleRule] {
        guard mode != .off, let bytes = floor.bytes else { return [] }
        return places.map { place in
            LifecycleRule(
                id: place.id,
                content: .own(
                    TierRule(
                        prefix: place.prefix, largerThan: bytes > 0 ? bytes - 1 : nil,
                        transition: .init(afterDays: archiveAfterDays, storageClass: Self.archive))))
        }
    }

    /// The rules that the bucket should have. In mode `agent` those that archive are not among them.
    package var bucketRules: [LifecycleRule] {
        (mode == .bucket ? archiveRules : []) + [
            LifecycleRule(
                id: Self.sharesID,
                content: .own(
                    TierRule(
                        prefix: "shares/", expireAfterDays: shareExpireDays + Self.shareGraceDays,
                        expireEarlierAfterDays: Self.earlierShareDays))),
            LifecycleRule(
                id: Self.uploadsID,
                content: .own(TierRule(prefix: "", abortUploadsAfterDays: Self.abortUploadsAfterDays))),
        ]
    }

    /// The ids of all rules that this user's policy may have, wanted now or not.
    package var ruleIDs: Set<String> {
        Set(places.map(\.id) + [Self.sharesID, Self.uploadsID])
    }

    /// The class that an object should be in, and why it is not archived.
    ///
    /// A bucket carries its rules out about once a day, from the midnight (UTC) after the object's time has come, so
    /// that it may lag behind by two days.
    /// - Parameter storedAt: when the object was put.
    package func expectedClass(of key: ObjectKey, size: Int64, storedAt: Date, now: Date) -> ExpectedClass {
        guard places.contains(where: { key.rawValue.utf8.starts(with: $0.prefix.utf8) }) else {
            return .standard(.notCovered)
        }
        guard mode != .off else { return .standard(.archivingIsOff) }
        guard let limit = floor.bytes else { return .standard(.neverPays) }
        guard size >= limit else { return .standard(.tooSmall(limit: limit)) }
        let due = storedAt.addingTimeInterval(Double(archiveAfterDays) * 86_400)
        guard due <= now else { return .standard(.tooYoung(until: due)) }
        return .archived(Self.archive)
    }
}

/// The class that an object is expected in.
package enum ExpectedClass: Hashable, Sendable {
    case archived(StorageClass)
    case standard(Reason)

    /// Why an object stays in STANDARD.
    package enum Reason: Hashable, Sendable {
        /// It has less bytes than `limit`.
        case tooSmall(limit: Int64)
        case tooYoung(until: Date)
        /// No rule is about such keys.
        case notCovered
        case archivingIsOff
        /// By the price table, archiving pays for no size.
        case neverPays
    }

    package var storageClass: StorageClass {
        switch self {
        case .archived(let storageClass): storageClass
        case .standard: .standard
        }
    }
}
