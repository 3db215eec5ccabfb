package import FoundationEssentials

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
        var places: [GroupKey: Int] = [:]
        var skipped: [Skipped] = []
        for candidate in candidates {
            switch try Self.decide(candidate, wish: wish, days: days, extends: extends, now: now) {
            case .send(let purpose, let request):
                let key = GroupKey(purpose: purpose, storageClass: candidate.storageClass, request: request)
                if let place = places[key] {
                    groups[place].candidates.append(candidate)
                } else {
                    places[key] = groups.count
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

    private struct GroupKey: Hashable {
        var purpose: Group.Purpose
        var storageClass: StorageClass
        var request: RestoreRequest
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
            // The copy is there: no tier makes it faster, and the slowest cannot be refused.
            let request = RestoreRequest(days: stays, tier: candidate.storageClass.offeredTiers.first ?? .standard)
            // Where nobody tells when the copy ends, it is asked to stay all the same.
            guard extends, let wanted = request.end(askedAt: now), end.map({ $0 < wanted }) ?? true else {
                return .skip(.alreadyReadable(until: end))
            }
            return .send(.longer, request)
        }
    }
}
