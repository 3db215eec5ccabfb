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
    /// From which the agent moves objects itself: those in which they are stored. What somebody has put into another one
    /// stays there.
    package let movedClasses: [StorageClass]
    /// What is archived. Kept, because a million objects may be asked about.
    private let places: [Place]

    private struct Place: Hashable {
        var id: String
        var prefix: String
        var afterDays: Int
    }

    /// - Parameters:
    ///   - user: valid for ``KeyLayout``.
    ///   - originalsAfterDays: when originals are archived.
    ///   - storageClass: in which new photos are stored.
    package init(
        user: String, mode: TierMode, archiveAfterDays: Int, originalsAfterDays: Int, floor: ArchiveFloor,
        shareExpireDays: Int, storageClass: StorageClass = .standard
    ) {
        movedClasses = storageClass == .standard ? [.standard] : [.standard, storageClass]
        self.mode = mode
        self.archiveAfterDays = archiveAfterDays
        self.floor = floor
        self.shareExpireDays = shareExpireDays
        places = [
            Place(id: "sync-agent-photos-\(user)", prefix: "users/\(user)/photos/", afterDays: archiveAfterDays),
            Place(
                id: "sync-agent-originals-\(user)", prefix: "users/\(user)/originals/", afterDays: originalsAfterDays),
            Place(id: "sync-agent-gallery-\(user)", prefix: "gallery-archive/\(user)/", afterDays: archiveAfterDays),
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
                        transition: .init(afterDays: place.afterDays, storageClass: Self.archive))))
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
        guard let place = places.first(where: { key.rawValue.utf8.starts(with: $0.prefix.utf8) }) else {
            return .standard(.notCovered)
        }
        guard mode != .off else { return .standard(.archivingIsOff) }
        guard let limit = floor.bytes else { return .standard(.neverPays) }
        guard size >= limit else { return .standard(.tooSmall(limit: limit)) }
        let due = storedAt.addingTimeInterval(Double(place.afterDays) * 86_400)
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

/// The smallest object that is archived, and why.
package struct ArchiveFloor: Hashable, Sendable {
    /// What archiving costs has to come back within so many months.
    package static let months = 24

    /// `tiers.minimum_archive_bytes`.
    package var configured: Int64
    /// By the prices; `unknown` also where there are none, because the store is not billed.
    package var breakEven: ArchiveBreakEven

    /// - Parameter prices: `nil` for a store that does not bill as Amazon does; then only `configured` counts.
    package init(configured: Int64, prices: PriceTable?) {
        self.configured = configured
        breakEven =
            prices.map { ArchiveBreakEven(of: TierPolicy.archive, months: Self.months, prices: $0) } ?? .unknown
    }

    /// Objects of so many bytes and more are archived; `nil` when it pays for none.
    package var bytes: Int64? {
        switch breakEven {
        case .from(let size): max(configured, size)
        case .never: nil
        case .unknown: configured
        }
    }
}

/// Who moves old photos to the archive.
package enum TierMode: String, Hashable, Sendable, CaseIterable {
    /// Rules that the bucket keeps and carries out.
    case bucket
    /// The agent, by copying objects onto themselves.
    case agent
    case off
}

extension TierRule: CustomStringConvertible {
    /// One line for people: `users/ana/photos/: to DEEP_ARCHIVE after 180 days, of 128 KiB or more`.
    package var description: String {
        var parts: [String] = []
        if let transition { parts.append("to \(transition.storageClass) after \(Self.days(transition.afterDays))") }
        if let expireAfterDays { parts.append("removed after \(Self.days(expireAfterDays))") }
        if let expireEarlierAfterDays {
            parts.append("earlier versions removed after \(Self.days(expireEarlierAfterDays))")
        }
        if let abortUploadsAfterDays {
            parts.append("unfinished uploads taken back after \(Self.days(abortUploadsAfterDays))")
        }
        if let largerThan { parts.append(Self.size(above: largerThan)) }
        return (prefix.isEmpty ? "all keys" : prefix.escapingControls) + ": " + parts.joined(separator: ", ")
    }

    private static func days(_ count: Int) -> String { count.counted("day") }

    /// A round number of KiB where one of both ways to say it gives one.
    private static func size(above limit: Int64) -> String {
        if limit < .max, (limit + 1).isMultiple(of: 1_024) { return "of \((limit + 1) / 1_024) KiB or more" }
        if limit > 0, limit.isMultiple(of: 1_024) { return "larger than \(limit / 1_024) KiB" }
        return "larger than \(limit) bytes"
    }
}
