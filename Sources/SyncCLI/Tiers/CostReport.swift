import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

/// `cost --json`: the fields are a contract (docs/commands.md).
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

    /// What keeping the bytes of photos costs, or would: photos.keep_originals.
    struct Originals: Encodable {
        var keep = OriginalsPolicy.off.rawValue
        var kept = 0
        var bytes: Int64 = 0
        /// Photos of which the original is not kept, and what keeping it takes; as JPEG XL where none are kept.
        var waiting = 0
        var waitingBytes: Int64 = 0
        @Nullable var onceUSD: Double?
        @Nullable var monthlyUSD: Double?
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
    /// Of the classes that have a price.
    var monthlyUSD: Double
    /// Classes that the price table does not have: they are in no sum.
    var unpriced: [String]
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
    var originals: Originals
}

extension CostReport {
    private static let hintsShown = 5

    /// - Throws: ``LedgerError``, `ConfigError`, `CancellationError`.
    init(_ installation: Installation, ledger: LedgerQueue) async throws {
        let (prices, now) = (try installation.prices(), installation.time.now())
        let days = installation.settings.restore.days
        let keys = try installation.keys
        let (shares, refreshedAt, spent, originals) = try await ledger { ledger in
            let shares = try ledger.tierReport(at: now) { prices.classes[$0]?.minimumDays ?? 0 }
            return (
                shares, try ledger.classesRefreshedAt(), try ledger.verificationStatus(at: now).spentUSD,
                try ledger.originalsStatus(below: keys.originals)
            )
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
                VerificationCost(prices: try installation.pricesThatCount()), spentUSD: spent),
            originals: Originals(
                originals, installation.settings.photos.originals,
                in: installation.settings.tiers.mode == .off ? .standard : TierPolicy.archive, prices))
    }

    init(
        _ cost: StorageCost, prices: PriceTable, isBilled: Bool, refreshedAt: Date?, restoreDays: Int,
        hints: [SuggestionReport.Album],
        verification: Verification = Verification(percentPerDay: 0, monthlyUSD: 0, limitUSD: 0, spentUSD: 0),
        originals: Originals = Originals()
    ) {
        let classes = cost.classes.map {
            Class(
                storageClass: $0.load.storageClass.rawValue, objects: $0.load.objects, bytes: $0.load.bytes,
                monthlyUSD: $0.monthlyUSD?.roundedUSD)
        }
        let young = cost.classes.reduce(into: Part(objects: 0, bytes: 0)) { part, cost in
            part.objects += cost.load.youngObjects
            part.bytes += cost.load.youngBytes
        }
        let restores = cost.fullRestore.map {
            Restore(tier: $0.tier.rawValue, hours: $0.estimate.hours, costUSD: $0.estimate.totalUSD.roundedUSD)
        }
        // A small loss is rounded to minus zero; a plain one reads better.
        let saved = cost.savedMonthlyUSD.roundedUSD + 0
        self.init(
            asOf: prices.asOf, region: prices.region, source: prices.source, isBilled: isBilled,
            classesRefreshedAt: refreshedAt, classes: classes, monthlyUSD: cost.monthlyUSD.roundedUSD,
            unpriced: cost.unpriced.map(\.rawValue), savedMonthlyUSD: saved,
            earlyDeletionUSD: cost.earlyDeletionUSD.roundedUSD, inMinimumPeriod: young, fullRestore: restores,
            restoreDays: restoreDays, hints: hints, verification: verification, originals: originals)
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

extension CostReport.Originals {
    init(
        _ status: OriginalsStatus, _ policy: OriginalsPolicy, in storageClass: StorageClass, _ prices: PriceTable
    ) {
        let cost = OriginalsCost(
            objects: status.waiting, bytes: status.waitingBytes, policy: policy == .on ? .on : .jxl,
            storageClass: storageClass, prices: prices)
        self.init(
            keep: policy.rawValue, kept: status.kept, bytes: status.bytes, waiting: status.waiting,
            waitingBytes: cost?.bytes ?? status.waitingBytes, onceUSD: cost?.onceUSD.roundedUSD,
            monthlyUSD: cost?.monthlyUSD.roundedUSD)
    }

    /// `nil` where there is nothing to tell.
    var sentence: String? {
        guard waiting > 0, let onceUSD, let monthlyUSD else { return nil }
        let what = Quantities.counted(waiting, "original") + " (\(Quantities.bytes(waitingBytes)))"
        let price = "\(Quantities.aboutDollars(onceUSD)) once and \(Quantities.aboutDollars(monthlyUSD)) a month"
        return keep == OriginalsPolicy.off.rawValue
            ? "Keeping \(what) as JPEG XL would cost \(price) (photos.keep_originals: jxl)."
            : "Not kept yet: \(what), \(price)."
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

/// What is stored costs, for people, in 80 columns.
struct CostView {
    let report: CostReport
    let terminal: Terminal
    let now: Date
    /// Whether all of it lies on a disk of this machine.
    let isEmbedded: Bool

    var lines: [String] {
        if report.classes.isEmpty { return ["Nothing is stored yet."] }
        let hints = report.hints.flatMap { terminal.wrapped($0.sentence + ".") }
        let parts = [classLines, sumLines, restoreLines, hints, sourceLines]
        return Array(parts.filter { !$0.isEmpty }.joined(separator: [""]))
    }

    private let table = Table(.left(26), .right(16), .right(16), .right(16))

    private var classLines: [String] {
        var lines = [terminal.styled(table.row("Class", "objects", "stored", "a month"), .bold)]
        lines += report.classes.map { each in
            table.row(
                each.storageClass.escapingControls, Quantities.count(each.objects), Quantities.bytes(each.bytes),
                each.monthlyUSD.map(Quantities.dollars) ?? "not known")
        }
        if report.classes.count != 1 {
            let (objects, bytes) = report.classes.reduce((0, Int64(0))) { ($0.0 + $1.objects, $0.1 + $1.bytes) }
            lines.append(
                table.row(
                    "all", Quantities.count(objects), Quantities.bytes(bytes),
                    (report.unpriced.isEmpty ? "" : "over ") + Quantities.dollars(report.monthlyUSD)))
        }
        return lines
    }

    private var sumLines: [String] {
        var lines: [String] = []
        if !report.unpriced.isEmpty {
            let names = report.unpriced.map(\.escapingControls).joined(separator: ", ")
            lines += terminal.wrapped(
                "Not in the sums, because no price is known: \(names). A file of prices (cost.prices) can have it.")
        }
        if report.savedMonthlyUSD > 0 {
            lines.append("Archiving saves \(Quantities.dollars(report.savedMonthlyUSD)) a month.")
        } else if report.savedMonthlyUSD < 0 {
            lines.append("Archiving costs \(Quantities.dollars(-report.savedMonthlyUSD)) a month more than it saves.")
        }
        if report.isBilled, report.verification.percentPerDay > 0 {
            let percent = report.verification.percentPerDay
            let part = Int(exactly: percent).map { "\($0)" } ?? "\(percent)"
            lines += terminal.wrapped(
                "Reading it back (\(part) % a day) costs about "
                    + "\(Quantities.dollars(report.verification.monthlyUSD)) a month, "
                    + "\(Quantities.dollars(report.verification.limitUSD)) at most.")
        }
        if let sentence = report.originals.sentence { lines += terminal.wrapped(sentence) }
        let young = report.inMinimumPeriod
        if young.objects > 0 {
            lines += terminal.wrapped(
                "\(Quantities.counted(young.objects, "object")) (\(Quantities.bytes(young.bytes))) "
                    + "\(young.objects == 1 ? "is" : "are") inside the minimum of days: to delete or overwrite "
                    + "\(young.objects == 1 ? "it" : "them") now would cost up to "
                    + "\(Quantities.dollars(report.earlyDeletionUSD)).")
        }
        return lines
    }

    private var restoreLines: [String] {
        guard !report.fullRestore.isEmpty else { return [] }
        var lines = [terminal.styled(table.row("Bring all of it back", "", "ready within", "costs about"), .bold)]
        lines += report.fullRestore.map { option in
            table.row(
                "  " + option.tier, "", option.hours.map { Quantities.span(.seconds($0 * 3_600)) } ?? "not known",
                Quantities.dollars(option.costUSD))
        }
        return lines
            + terminal.wrapped(
                "for \(Quantities.counted(report.restoreDays, "day")), with everything downloaded once", .dim)
    }

    private var sourceLines: [String] {
        var text = "By Amazon's list prices in \(report.region), \(report.asOf), without tax."
        if isEmbedded {
            text += " They are for comparison: the embedded store itself costs nothing."
        } else if !report.isBilled {
            text += " They are for comparison: this store does not bill as Amazon does."
        }
        text +=
            report.classesRefreshedAt.map { " Classes as the store told them \(Quantities.ago($0, now: now))." }
            ?? " The store was not asked for the classes yet: sync-agent status --refresh."
        return terminal.wrapped(text, .dim)
    }
}

/// Albums that may be wanted back. It only tells: whoever wants one asks for it.
struct SuggestionReport: Report {
    struct Album: Encodable {
        var folder: String
        /// In plain words.
        var reason: String
        /// What is archived of it.
        var photos: Int
        var bytes: Int64
        var costUSD: Double
        @Nullable var hours: Double?

        init(_ suggestion: Suggestion) {
            folder = suggestion.folder.text
            reason = suggestion.reason.words
            photos = suggestion.photos
            bytes = suggestion.bytes
            costUSD = suggestion.estimate.totalUSD.roundedUSD
            hours = suggestion.estimate.hours
        }

        /// `12 photos of Paris are archived, and 3 were requested lately: to bring back the album as one would cost $0.02`
        var sentence: String {
            let name = (FilePath(folder).lastComponent?.text ?? folder).escapingControls
            let verb = photos == 1 ? "is" : "are"
            let wait = hours.map { ", within \(Quantities.span(.seconds($0 * 3_600)))" } ?? ""
            return
                "\(Quantities.counted(photos, "photo")) of \(name) \(verb) archived, and \(reason): to bring back the "
                + "album as one would cost \(Quantities.dollars(costUSD))\(wait)"
        }
    }

    var suggestions: [Album]

    init(_ suggestions: [Suggestion]) {
        self.suggestions = suggestions.map(Album.init)
    }

    /// For people, in 80 columns; the command that brings an album back stands below it.
    func lines(on terminal: Terminal) -> [String] {
        guard !suggestions.isEmpty else { return ["Nothing to suggest."] }
        return suggestions.flatMap { album in
            terminal.wrapped(album.sentence)
                + [terminal.styled("  sync-agent restore \(album.folder.asShellWord)", .dim)]
        }
    }
}

extension Suggestion.Reason {
    var words: String {
        switch self {
        case .opened(let photos): "\(Quantities.count(photos)) \(photos == 1 ? "was" : "were") requested lately"
        case .sameWeek(let year): "some were taken in this week of \(year)"
        }
    }
}
