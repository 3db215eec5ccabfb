package import FoundationEssentials
package import SyncCore
package import SyncLedger
package import SystemPackage

/// An album that may be wanted back as a whole, and what that would cost. Nobody acts on it by itself.
package struct Suggestion: Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        /// So many of its photos were asked for lately.
        case opened(Int)
        /// Its photos were taken in this week of an earlier year.
        case sameWeek(year: Int)
    }

    /// Absolute.
    package var folder: FilePath
    package var reason: Reason
    /// Those that are archived; what can be read, or is on its way, is left out.
    package var photos: Int
    /// Stored bytes of these.
    package var bytes: Int64
    /// For these, in the tier that was looked for where their class has it.
    package var estimate: RestoreEstimate
}

/// Finds albums that are likely to be wanted: those of which some photos were brought back lately, and those of this week
/// in earlier years. The cost is bounded, however many photos there are: what is met beyond some thousand is left out.
package struct RestoreSuggestions: Sendable {
    package static let recentDays = 30
    /// Days before and after today's date.
    private static let weekDays = 3
    private static let years = 20
    private static let albumsPerYear = 3

    private let ledger: LedgerQueue
    private let prices: PriceTable
    private let tier: RestoreTier
    private let days: Int

    /// - Parameters:
    ///   - tier: of the estimates.
    ///   - days: how long the copies would stay.
    package init(ledger: LedgerQueue, prices: PriceTable, tier: RestoreTier = .standard, days: Int) {
        self.ledger = ledger
        self.prices = prices
        self.tier = tier
        self.days = days
    }

    /// What was opened lately at the head, then year by year back; each album once.
    /// - Throws: ``LedgerError``, `CancellationError`.
    package func find(at now: Date, limit: Int) async throws -> [Suggestion] {
        var suggestions = try await findOpened(at: now, limit: limit)
        var known = Set(suggestions.map(\.folder))
        for (year, week) in Self.weeks(before: now) where suggestions.count < limit {
            let sightings = try await ledger {
                try $0.archivedAlbums(takenFrom: week.lowerBound, to: week.upperBound, limit: Self.albumsPerYear)
            }
            for sighting in sightings
            where suggestions.count < limit && known.insert(sighting.album.folder).inserted {
                suggestions.append(suggestion(sighting.album, .sameWeek(year: year)))
            }
        }
        return suggestions
    }

    /// Only those of which photos were asked for lately.
    package func findOpened(at now: Date, limit: Int) async throws -> [Suggestion] {
        let since = now.addingTimeInterval(-Double(Self.recentDays) * 86_400)
        let sightings = try await ledger { try $0.recentlyRestoredAlbums(since: since, limit: limit) }
        return sightings.map { suggestion($0.album, .opened($0.objects)) }
    }

    private func suggestion(_ album: Album, _ reason: Suggestion.Reason) -> Suggestion {
        let loads = album.cold.map { load in
            let offered = load.storageClass.offeredTiers
            return RestoreLoad(
                storageClass: load.storageClass, tier: offered.last { $0 <= tier } ?? tier, objects: load.objects,
                bytes: load.bytes)
        }
        return Suggestion(
            folder: album.folder, reason: reason, photos: album.coldPhotos, bytes: album.coldBytes,
            estimate: RestoreEstimate(of: loads, days: days, prices: prices))
    }

    /// Today's date in earlier years with some days on both sides, in UTC: which days these are for whoever took the
    /// photos differs by one at most.
    static func weeks(before now: Date) -> [(year: Int, week: Range<Date>)] {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let today = calendar.startOfDay(for: now)
        return (1...years).compactMap { back in
            guard let day = calendar.date(byAdding: .year, value: -back, to: today),
                let start = calendar.date(byAdding: .day, value: -weekDays, to: day),
                let end = calendar.date(byAdding: .day, value: weekDays + 1, to: day)
            else { return nil }
            return (calendar.component(.year, from: day), start..<end)
        }
    }
}
