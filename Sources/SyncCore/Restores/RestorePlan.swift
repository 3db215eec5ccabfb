package import FoundationEssentials
package import SystemPackage

/// What to do about each object that somebody wants back: which are asked for, in which tier, and which are left out.
package struct RestorePlan: Hashable, Sendable {
    /// Objects for which the same is asked.
    package struct Group: Hashable, Sendable {
        package enum Purpose: Hashable, Sendable {
            case restore
            /// It is being restored in a slower tier. S3 takes the price of the faster one, and wants the same days.
            case faster
            /// It is readable, and is to stay so for longer. Costs the request and the longer stay of the copy.
            case longer
        }

        package var purpose: Purpose
        package var storageClass: StorageClass
        package var request: RestoreRequest
        package var candidates: [RestoreCandidate]

        package var bytes: Int64 { candidates.reduce(0) { $0 + $1.size } }
        /// For the estimate.
        package var load: RestoreLoad {
            RestoreLoad(
                storageClass: storageClass, tier: request.tier, objects: candidates.count, bytes: bytes,
                isRetrieved: purpose != .longer)
        }
        /// Whether the days, which count from the request, may be over when the restore is.
        package var mayEndBeforeReady: Bool {
            guard purpose == .restore, let days = request.days, let hours = storageClass.restoreHours(request.tier)
            else { return false }
            return Double(days) * 24 < hours
        }
    }

    /// An object for which nothing is sent.
    package struct Skipped: Hashable, Sendable {
        package var candidate: RestoreCandidate
        package var reason: RestoreSkip
    }

    /// By class, then by tier; candidates in the order they came.
    package let groups: [Group]
    /// In the order they came.
    package let skipped: [Skipped]

    /// - Parameters:
    ///   - days: how long the copies are to stay, 1 or more.
    ///   - extends: whether what is readable already, and for less than `days` from `now`, is to stay longer.
    /// - Throws: ``TierNotOffered`` when one of the objects still to be restored is of a class without the wanted tier.
    package init(
        for candidates: [RestoreCandidate], wish: TierChoice, days: Int, extends: Bool = false, now: Date
    ) throws(TierNotOffered) {
        var groups: [Group] = []
        var skipped: [Skipped] = []
        for candidate in candidates {
            switch try Self.decide(candidate, wish: wish, days: days, extends: extends, now: now) {
            case .send(let purpose, let request):
                let place = groups.firstIndex {
                    $0.purpose == purpose && $0.storageClass == candidate.storageClass && $0.request == request
                }
                if let place {
                    groups[place].candidates.append(candidate)
                } else {
                    groups.append(
                        Group(
                            purpose: purpose, storageClass: candidate.storageClass, request: request,
                            candidates: [candidate]))
                }
            case .skip(let reason): skipped.append(Skipped(candidate: candidate, reason: reason))
            }
        }
        self.groups = groups.sorted {
            ($0.storageClass.rawValue, $0.request.tier) < ($1.storageClass.rawValue, $1.request.tier)
        }
        self.skipped = skipped
    }

    private enum Decision {
        case send(Group.Purpose, RestoreRequest)
        case skip(RestoreSkip)
    }

    private static func decide(
        _ candidate: RestoreCandidate, wish: TierChoice, days: Int, extends: Bool, now: Date
    ) throws(TierNotOffered) -> Decision {
        if let original = candidate.original { return .skip(.originalThere(original)) }
        guard candidate.isArchived else { return .skip(.notArchived(candidate.storageClass)) }
        let stays = candidate.storageClass.makesTemporaryCopies ? days : nil
        switch candidate.restoreState {
        case .none where candidate.isSaved, .inProgress where candidate.isSaved: return .skip(.saved)
        case .none:
            let tier = try wish.tier(for: candidate.storageClass)
            return .send(.restore, RestoreRequest(days: stays, tier: tier))
        case .inProgress:
            let tier = try wish.tier(for: candidate.storageClass)
            guard let running = candidate.running, running.tier < tier else {
                return .skip(.alreadyRetrieving(candidate.running?.tier))
            }
            return .send(.faster, RestoreRequest(days: running.days, tier: tier))
        case .restored(let end):
            // The copy is there: no tier makes it faster, and the slowest is asked for.
            let request = RestoreRequest(days: stays, tier: candidate.storageClass.offeredTiers.first ?? .standard)
            // Where nobody tells when the copy ends, it is asked to stay all the same.
            guard extends, let wanted = request.end(askedAt: now), end.map({ $0 < wanted }) ?? true else {
                return .skip(.alreadyReadable(until: end))
            }
            return .send(.longer, request)
        }
    }
}

/// An object that somebody wants back, as ledger and store know it.
package struct RestoreCandidate: Hashable, Sendable {
    package var key: ObjectKey
    package var storageClass: StorageClass
    /// Whether it has to be restored before it can be read. For INTELLIGENT_TIERING the class does not tell it (S3 API,
    /// `x-amz-archive-status` does).
    package var isArchived: Bool
    package var restoreState: RestoreState
    /// What is being restored by a job of ours, where it is: S3 does not report tier and days.
    package var running: RestoreRequest?
    /// Of the stored bytes.
    package var size: Int64
    package var sha256: SHA256Digest?
    /// As the person named or knows it.
    package var path: FilePath?
    /// Where the photo itself is, if that is where the copy was to be saved.
    package var original: FilePath?
    /// Whether the copy is where it was to be saved.
    package var isSaved = false

    /// - Parameter isArchived: `nil` for what the class says.
    package init(
        key: ObjectKey, storageClass: StorageClass, isArchived: Bool? = nil, restoreState: RestoreState = .none,
        running: RestoreRequest? = nil, size: Int64, sha256: SHA256Digest? = nil,
        path: FilePath? = nil
    ) {
        self.key = key
        self.storageClass = storageClass
        self.isArchived = isArchived ?? storageClass.isArchive
        self.restoreState = restoreState
        self.running = running
        self.size = size
        self.sha256 = sha256
        self.path = path
    }
}

/// How fast the objects are wanted.
package enum TierChoice: Hashable, Sendable {
    case tier(RestoreTier)
    /// The fastest tier that each class has.
    case rush

    /// - Throws: ``TierNotOffered``.
    package func tier(for storageClass: StorageClass) throws(TierNotOffered) -> RestoreTier {
        switch self {
        case .tier(let tier):
            guard storageClass.offeredTiers.contains(tier) else {
                throw TierNotOffered(storageClass: storageClass, tier: tier)
            }
            return tier
        case .rush: return storageClass.offeredTiers.last ?? .standard
        }
    }
}

/// A tier was asked for that a class does not have. Nothing was sent.
package struct TierNotOffered: Error, Hashable, Sendable, CustomStringConvertible {
    package var storageClass: StorageClass
    package var tier: RestoreTier

    /// What the class has instead, from the slowest to the fastest, with the hours that it takes at most.
    package var offered: [(tier: RestoreTier, hours: Double?)] {
        storageClass.offeredTiers.map { ($0, storageClass.restoreHours($0)) }
    }

    package var description: String {
        let others = offered.map { tier, hours in
            hours.map { "\(tier.rawValue) (within \(Self.span(hours: $0)))" } ?? tier.rawValue
        }
        return "objects in \(storageClass) have no \(tier.rawValue) restore; choose \(others.joined(separator: " or "))"
    }

    private static func span(hours: Double) -> String {
        hours < 1 ? Int((hours * 60).rounded()).counted("minute") : Int(hours.rounded()).counted("hour")
    }
}

/// Why nothing is sent for an object that somebody wants back.
package enum RestoreSkip: Hashable, Sendable {
    /// The tier where a job of ours knows it.
    case alreadyRetrieving(RestoreTier?)
    /// The end, where the store tells one.
    case alreadyReadable(until: Date?)
    case notArchived(StorageClass)
    /// The photo itself is where its copy was to be saved.
    case originalThere(FilePath)
    /// The copy is where it was to be saved, by an earlier restore, and would have to be brought back once more.
    case saved
}

extension RestoreSkip: CustomStringConvertible {
    /// A sentence for people, without the name of the object.
    package var description: String {
        switch self {
        case .alreadyRetrieving(let tier): "already retrieving" + (tier.map { " (\($0.rawValue))" } ?? "")
        case .alreadyReadable(let end):
            "already restored" + (end.map { ", readable until \($0.formatted(.iso8601))" } ?? "")
        case .notArchived(let storageClass): "not archived: objects in \(storageClass) can be read at once"
        case .originalThere(let place): "the original is there, and stays: \(place)"
        case .saved: "saved there already"
        }
    }
}

extension StorageClass {
    /// The tiers to choose from for an object of this class that the store says is archived, from the slowest to the
    /// fastest. For INTELLIGENT_TIERING, those that both of its archive tiers have; the class does not tell which one
    /// an object is in. The same for names that are a store's own.
    package var offeredTiers: [RestoreTier] { isArchive ? restoreTiers : [.bulk, .standard] }

    /// Whether a restore makes a copy for some days. An object of INTELLIGENT_TIERING moves back for good, and S3
    /// refuses a number of days for it.
    package var makesTemporaryCopies: Bool { self != .intelligentTiering }
}

/// What is asked of a store for one archived object.
package struct RestoreRequest: Hashable, Sendable {
    /// How long the temporary copy stays, 1 or more; `nil` for a class that moves back for good (INTELLIGENT_TIERING).
    package var days: Int?
    package var tier: RestoreTier

    package init(days: Int?, tier: RestoreTier) {
        self.days = days
        self.tier = tier
    }

    /// When the temporary copy ends: so many days after the request, rounded up to the next midnight UTC (S3 User Guide,
    /// "Restoring an archived object"). `nil` without a number of days, 1 or more.
    package func end(askedAt now: Date) -> Date? {
        guard let days, days >= 1 else { return nil }
        let day = 86_400.0
        return Date(timeIntervalSince1970: ((now.timeIntervalSince1970 / day) + Double(days)).rounded(.up) * day)
    }
}

/// A store's answer to a ``RestoreRequest``. Whether the object can be read is told by its ``RestoreState`` alone.
package enum RestoreAnswer: Hashable, Sendable {
    /// Begun, made faster, or given another end.
    case accepted
    /// It is being restored, and the store changes nothing about that (S3: 409).
    case alreadyRetrieving
}

/// How fast an archived object is brought back (S3 API, `GlacierJobParameters`, `Tier`). The slower, the cheaper.
package enum RestoreTier: String, Hashable, Sendable, CaseIterable, Comparable {
    // From the slowest to the fastest.
    case bulk, standard, expedited

    package static func < (left: RestoreTier, right: RestoreTier) -> Bool {
        left.speed < right.speed
    }

    private var speed: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension StorageClass {
    /// The tiers that an archive class has, from the slowest to the fastest; none for a class that is read at once.
    /// DEEP_ARCHIVE has no expedited one (S3 User Guide, "Understanding archive retrieval options").
    package var restoreTiers: [RestoreTier] {
        switch self {
        case .deepArchive: [.bulk, .standard]
        case .glacier: [.bulk, .standard, .expedited]
        default: []
        }
    }

    /// How many hours a restore takes at most, by the same page; `nil` where the class has no such tier.
    package func restoreHours(_ tier: RestoreTier) -> Double? {
        switch (self, tier) {
        case (.deepArchive, .bulk): 48
        case (.deepArchive, .standard): 12
        case (.glacier, .bulk): 12
        case (.glacier, .standard): 5
        case (.glacier, .expedited): 5.0 / 60
        default: nil
        }
    }
}

/// When to ask the store next how far a restore is: seldom while the tier's hours last, oftener near their end.
///
/// Regular looks begin at half of the shortest usual time. Then come eight, four and one poll interval, as half and nine
/// tenths of the longest usual time pass; after that one interval for good. With 15 minutes, a bulk restore from
/// DEEP_ARCHIVE that takes all of its 48 hours is asked for 43 times.
///
/// Before them come early looks, the first after two seconds, the next whenever the time since the request has doubled:
/// servers that are not Amazon's are done in seconds or minutes. One object is enough for an early look.
package struct PollSchedule: Hashable, Sendable {
    /// From the request until the object is readable, in seconds.
    private let shortest: Double
    private let longest: Double
    /// In seconds, as the configuration wants it.
    private let interval: Double
    /// Whether asking costs nothing, so that ``interval`` is no lower bound.
    private let isLocal: Bool

    /// The hours of a tier (S3 User Guide, "Understanding archive retrieval options").
    /// - Parameter interval: never less lies between two polls.
    package init(_ tier: RestoreTier, of storageClass: StorageClass, interval: Duration) {
        let hours = storageClass.usualRestoreHours(tier)
        shortest = hours.lowerBound * 3_600
        longest = hours.upperBound * 3_600
        self.interval = interval / .seconds(1)
        isLocal = false
    }

    /// A store on this machine, which says itself how long it takes.
    /// - Parameter interval: never more lies between two polls.
    package init(expected: Duration, interval: Duration) {
        shortest = expected / .seconds(1)
        longest = shortest
        self.interval = interval / .seconds(1)
        isLocal = true
    }

    /// - Parameter lastPolled: `nil` before the first poll of this restore.
    /// - Returns: a moment that may have passed already, after a sleep of the machine.
    package func nextPoll(requestedAt: Date, lastPolled: Date?, now: Date) -> Date {
        // A clock that was set back would stretch the wait by as much: what lies in the future tells nothing.
        guard requestedAt <= now else {
            guard let lastPolled, lastPolled <= now else { return now }
            return lastPolled.addingTimeInterval(interval)
        }
        guard let lastPolled, lastPolled >= requestedAt else {
            return requestedAt.addingTimeInterval(isLocal ? firstPoll : min(Self.firstEarlyPoll, firstPoll))
        }
        guard lastPolled <= now else { return now }
        let elapsed = lastPolled.timeIntervalSince(requestedAt)
        if elapsed < firstPoll, !isLocal {
            let doubled = min(max(elapsed, Self.firstEarlyPoll) * 2, elapsed + interval * 8)
            return requestedAt.addingTimeInterval(min(doubled, firstPoll))
        }
        return max(lastPolled.addingTimeInterval(step(after: elapsed)), requestedAt.addingTimeInterval(firstPoll))
    }

    /// Whether a look at this moment is an early one: then one object tells enough.
    package func isEarly(_ now: Date, requestedAt: Date) -> Bool {
        !isLocal && now.timeIntervalSince(requestedAt) < firstPoll
    }

    /// Whether it takes so much longer than usual that the store has to be asked whether it still knows of it.
    package func isOverdue(_ now: Date, requestedAt: Date) -> Bool {
        now.timeIntervalSince(requestedAt) > 2 * longest + 60
    }

    /// Seconds.
    private static let firstEarlyPoll = 2.0

    /// A tier that is over within one interval is looked at when it should be.
    private var firstPoll: Double { isLocal ? longest : max(shortest / 2, min(interval, longest)) }

    private func step(after elapsed: Double) -> Double {
        if isLocal { return min(interval, max(1, elapsed / 4)) }
        switch elapsed {
        case ..<(longest / 2): return interval * 8
        case ..<(longest * 0.9): return interval * 4
        default: return interval
        }
    }
}

extension StorageClass {
    /// From the fastest to the slowest that the page promises. It gives no lower bound for DEEP_ARCHIVE: half of the
    /// upper one is taken. INTELLIGENT_TIERING spans its two archive tiers, and so do classes that are not known.
    fileprivate func usualRestoreHours(_ tier: RestoreTier) -> ClosedRange<Double> {
        switch (self, tier) {
        case (.deepArchive, .bulk): 24...48
        case (.deepArchive, _): 6...12
        case (.glacier, .bulk): 5...12
        case (.glacier, .standard): 3...5
        case (_, .expedited): (1.0 / 60)...(5.0 / 60)
        case (_, .standard): 3...12
        case (_, .bulk): 5...48
        }
    }
}
