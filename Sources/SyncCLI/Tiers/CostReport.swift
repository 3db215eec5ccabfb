import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger

/// `cost --json`: the fields are a contract (docs/design.md, section 7).
struct CostReport: Encodable {
    struct Class: Encodable {
        var storageClass: String
        var objects: Int
        var bytes: Int64
        /// `null` when the price table has no such class.
        @Nullable var monthlyUSD: Double?
    }

    struct Part: Encodable {
        var objects: Int
        var bytes: Int64
    }

    struct Restore: Encodable {
        var tier: String
        @Nullable var hours: Double?
        var costUSD: Double
    }

    /// What it costs that the agent reads back what is stored.
    struct Verification: Encodable {
        var percentPerDay: Double
        /// At the present size, within the limit.
        var monthlyUSD: Double
        var limitUSD: Double
        /// Of this month.
        var spentUSD: Double
    }

    /// When the prices held, such as `2026-07`.
    var asOf: String
    var region: String
    var source: String
    /// Whether the store really asks for money as Amazon does.
    var isBilled: Bool
    /// When the store was last asked for the classes of all objects.
    @Nullable var classesRefreshedAt: Date?
    var classes: [Class]
    var monthlyUSD: Double
    /// Against all of it in STANDARD.
    var savedMonthlyUSD: Double
    /// What deleting or overwriting all that is inside its minimum of days would cost, at most.
    var earlyDeletionUSD: Double
    var inMinimumPeriod: Part
    /// Every archived object at once.
    var fullRestore: [Restore]
    /// How long its copies would stay.
    var restoreDays: Int
    var hints: [SuggestionReport.Album]
    var verification: Verification
}

extension CostReport {
    private static let hintsShown = 5

    /// - Throws: ``LedgerError``, `ConfigError`, `CancellationError`.
    init(_ installation: Installation, ledger: LedgerQueue) async throws {
        let (prices, now) = (try installation.prices(), installation.time.now())
        let days = installation.settings.restore.days
        let (shares, refreshedAt, spent) = try await ledger { ledger in
            let shares = try ledger.tierReport(at: now) { prices.classes[$0]?.minimumDays ?? 0 }
            return (shares, try ledger.classesRefreshedAt(), try ledger.verificationStanding(at: now).spentUSD)
        }
        let cost = StorageCost(of: StoredLoad.byClass(shares), restoreDays: days, prices: prices)
        let suggestions = try await RestoreSuggestions(
            ledger: ledger, prices: prices, tier: installation.settings.restore.tier, days: days
        ).findOpened(at: now, limit: Self.hintsShown)
        self.init(
            cost, prices: prices, isBilled: try installation.pricesThatCount() != nil, refreshedAt: refreshedAt,
            restoreDays: days, hints: SuggestionReport(suggestions).suggestions,
            verification: Verification(
                of: StoredLoad.byClass(shares), installation.settings.verify,
                VerificationCost(prices: try installation.pricesThatCount()), spentUSD: spent))
    }

    init(
        _ cost: StorageCost, prices: PriceTable, isBilled: Bool, refreshedAt: Date?, restoreDays: Int,
        hints: [SuggestionReport.Album],
        verification: Verification = Verification(percentPerDay: 0, monthlyUSD: 0, limitUSD: 0, spentUSD: 0)
    ) {
        self.verification = verification
        asOf = prices.asOf
        region = prices.region
        source = prices.source
        self.isBilled = isBilled
        classesRefreshedAt = refreshedAt
        classes = cost.classes.map {
            Class(
                storageClass: $0.load.storageClass.rawValue, objects: $0.load.objects, bytes: $0.load.bytes,
                monthlyUSD: $0.monthlyUSD?.roundedUSD)
        }
        monthlyUSD = cost.monthlyUSD.roundedUSD
        // A small loss is rounded to minus zero; a plain one reads better.
        savedMonthlyUSD = cost.savedMonthlyUSD.roundedUSD + 0
        earlyDeletionUSD = cost.earlyDeletionUSD.roundedUSD
        inMinimumPeriod = cost.classes.reduce(into: Part(objects: 0, bytes: 0)) { part, cost in
            part.objects += cost.load.youngObjects
            part.bytes += cost.load.youngBytes
        }
        fullRestore = cost.fullRestore.map {
            Restore(tier: $0.tier.rawValue, hours: $0.estimate.hours, costUSD: $0.estimate.totalUSD.roundedUSD)
        }
        self.restoreDays = restoreDays
        self.hints = hints
    }
}

extension CostReport.Verification {
    init(of loads: [StoredLoad], _ settings: VerifySettings, _ cost: VerificationCost, spentUSD: Double) {
        let once = loads.reduce(0) { $0 + cost.usd(objects: $1.objects, bytes: $1.bytes, in: $1.storageClass) }
        let monthly = once * settings.percentPerDay / 100 * PriceTable.daysInMonth
        self.init(
            percentPerDay: settings.percentPerDay, monthlyUSD: min(monthly, settings.maximumUSDPerMonth).roundedUSD,
            limitUSD: settings.maximumUSDPerMonth, spentUSD: spentUSD.roundedUSD)
    }
}

extension StoredLoad {
    /// Sorted by name.
    static func byClass(_ shares: [TierShare]) -> [StoredLoad] {
        Dictionary(grouping: shares, by: \.storageClass).map { storageClass, shares in
            shares.reduce(into: StoredLoad(storageClass: storageClass, objects: 0, bytes: 0)) { load, share in
                load.objects += share.objects
                load.bytes += share.bytes
                load.youngObjects += share.youngObjects
                load.youngBytes += share.youngBytes
            }
        }.sorted { $0.storageClass.rawValue < $1.storageClass.rawValue }
    }
}
