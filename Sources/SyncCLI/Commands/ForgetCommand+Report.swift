import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger

/// `forget --json`: the fields are a contract (docs/commands.md).
struct ForgetReport: Report {
    struct Item: Encodable {
        @Nullable var path: String?
        @Nullable var key: String?
    }

    struct Deleted: Encodable {
        var key: String
        var bytes: Int64
    }

    /// A path that stays known, or an object that stays in the store.
    struct Kept: Encodable {
        @Nullable var path: String?
        @Nullable var key: String?
        var reason: String
    }

    var forgotten: [Item] = []
    var deleted: [Deleted] = []
    var kept: [Kept] = []
    var freedBytes: Int64 = 0
    var monthlyUSD = 0.0
    var earlyDeletionUSD = 0.0
    var dryRun = false

    @Untold var refused = 0
    @Untold var undeleted = 0
    @Untold var earlyObjects = 0
    @Untold var isVersioned = false
    /// What people have read of ``kept`` already, as ``namedTexts``.
    @Untold var shown: Set<String> = []

    /// - Parameters:
    ///   - known: keys of what is not lost, and what is to be done about it.
    ///   - isS3: whether the store may keep versions of what is deleted.
    init(
        _ plan: ForgetPlan, known: [(key: ObjectKey, reason: String)] = [], prices: PriceTable, isS3: Bool,
        at time: Date, dryRun: Bool
    ) {
        self.dryRun = dryRun
        isVersioned = isS3
        forgotten =
            plan.photos.map { Item(path: $0.path.text, key: ($0.object ?? $0.earlier)?.key.rawValue) }
            + plan.objects.map { Item(path: nil, key: $0.rawValue) }
        deleted = plan.deleted.map { Deleted(key: $0.record.key.rawValue, bytes: $0.record.size) }
        refused = plan.refused.count + plan.held.count + known.count
        let paths = Dictionary(plan.photos.map { ($0.id, $0.path.text) }) { first, _ in first }
        kept =
            plan.refused.map {
                Kept(
                    path: $0.photo.path.text, key: ($0.photo.object ?? $0.photo.earlier)?.key.rawValue,
                    reason: Self.words($0.refusal))
            }
            + plan.shared.map { shared in
                Kept(
                    path: shared.object.photos.first.flatMap { paths[$0] }, key: shared.object.record.key.rawValue,
                    reason: Self.wordsOfRest(shared.reference, shared.object.record.problem))
            }
            + known.map { Kept(path: nil, key: $0.key.rawValue, reason: $0.reason) }
        kept += plan.held.map { Kept(path: nil, key: $0.key.rawValue, reason: Self.words($0.reference)) }
        let cost = plan.cost(prices, at: time)
        freedBytes = plan.bytes
        monthlyUSD = cost.monthlyUSD.roundedUSD
        earlyDeletionUSD = cost.earlyDeletionUSD.roundedUSD
        earlyObjects = cost.earlyObjects
    }

    /// What has come of it in the store.
    mutating func note(_ summary: ObjectDeletions.Summary) {
        let gone = Set(summary.deleted.map(\.key.rawValue))
        deleted = summary.deleted.map { Deleted(key: $0.key.rawValue, bytes: $0.size) }
        freedBytes = summary.deleted.reduce(0) { $0 + $1.size }
        kept += summary.kept.filter { !gone.contains($0.key.rawValue) }.map {
            Kept(path: nil, key: $0.key.rawValue, reason: $0.reference.map(Self.words) ?? "it was stored anew")
        }
        kept += summary.failures.map { Kept(path: nil, key: $0.key.rawValue, reason: $0.reason) }
        undeleted = summary.failures.count
    }

    var status: ExitStatus { !dryRun && (refused > 0 || undeleted > 0) ? .partlyDone : .done }

    // MARK: For people

    private static let named = 20

    /// What somebody is to know before it happens.
    func plan(on terminal: Terminal) -> [String] {
        var lines = forgotten.prefix(Self.named).map { "  \(($0.path ?? $0.key ?? "").escapingControls)" }
        if forgotten.count > Self.named { lines.append("  and \(Quantities.count(forgotten.count - Self.named)) more") }
        lines += keptLines(terminal)
        if deleted.isEmpty { return lines }
        lines.append(
            "\(Quantities.counted(forgotten.count, "photo")) to forget; \(Quantities.counted(deleted.count, "object")) with "
                + "\(Quantities.bytes(freedBytes)) to delete from the store for good")
        lines.append("frees \(Quantities.aboutDollars(monthlyUSD)) a month, by list prices")
        if earlyObjects > 0 {
            lines.append(
                "costs \(Quantities.aboutDollars(earlyDeletionUSD)) once: \(Quantities.counted(earlyObjects, "object")) "
                    + "in a class that is billed for a minimum of days")
        }
        if isVersioned { lines.append(Self.versions) }
        return lines
    }

    func lines(on terminal: Terminal) -> [String] {
        if dryRun { return plan(on: terminal) + ["Dry run: nothing was forgotten or deleted."] }
        var lines = keptLines(terminal)
        var text = "\(Quantities.counted(forgotten.count, "photo")) forgotten"
        if !deleted.isEmpty {
            text += "; \(Quantities.counted(deleted.count, "object")) deleted, \(Quantities.bytes(freedBytes)) freed"
        }
        lines.append(text)
        return lines
    }

    private static let versions =
        "In a bucket with versioning, earlier versions of what is deleted stay, and cost, until a rule removes them."

    /// What stays, and why. A copy and its original stay for the same reason: for people that is one line.
    var keptTexts: [String] {
        var told: Set<String> = []
        return kept.map { "\(($0.path ?? $0.key ?? "").escapingControls): \($0.reason)" }
            .filter { told.insert($0).inserted }
    }

    /// Those that are named: the first ones that people have not read yet.
    var namedTexts: [String] { Array(unreadTexts.prefix(Self.named)) }

    private var unreadTexts: [String] { keptTexts.filter { !shown.contains($0) } }

    private func keptLines(_ terminal: Terminal) -> [String] {
        let (named, count) = (namedTexts, unreadTexts.count)
        let more = count > named.count ? ["      and \(Quantities.count(count - named.count)) more"] : []
        return named.map { terminal.styled("kept", .yellow) + "  \($0)" } + more
    }

    private static func words(_ refusal: ForgetPlan.Refusal) -> String {
        switch refusal {
        case .stillHere: "is still here; move it out of the watched folder first"
        case .unseen(let reason): "cannot be looked at (\(reason)); nothing tells whether it is there"
        case .away(let reason): "whether it is gone cannot be told: \(reason); mount its drive, or take it out of watch"
        case .events(areArchived: false):
            "is a file of gallery events: sync-agent cleanup archives their photos, and deletes their texts, when they "
                + "are due"
        case .events(areArchived: true):
            "held gallery events, and sync-agent cleanup is done with them: what is stored of their photos stays "
                + "(sync-agent archive list)"
        case .inHand: "is being stored at this moment; try again"
        case .needed(.project): "belongs to a project: sync-agent projects delete deletes it"
        case .needed(let reference): words(reference)
        case .changed: "was changed meanwhile; try again"
        }
    }

    /// Of what stays though its path is forgotten.
    /// - Parameter problem: of the object: who else needs a ruin does not have the photo either.
    static func wordsOfRest(_ reference: StoredReference, _ problem: ObjectFault?) -> String {
        if case .unread(let reason) = reference {
            return "stays: whether anybody else needs it is not known (\(reason.escapingControls))"
        }
        guard let problem, isNeed(reference) else { return words(reference) }
        return "what was stored of it \(problem.words.escapingControls), and stays: \(need(reference))"
    }

    private static func words(_ reference: StoredReference) -> String {
        isNeed(reference) ? "stored: \(need(reference))" : need(reference)
    }

    /// Whether it tells only why an object stays, and nothing that ends.
    private static func isNeed(_ reference: StoredReference) -> Bool { !reference.holdsPath || reference == .project }

    private static func need(_ reference: StoredReference) -> String {
        switch reference {
        case .path(let path): "\(path.text.escapingControls) is the same photo"
        case .version(let path): "an earlier version of \(path.text.escapingControls)"
        case .machine(let name): "the machine \(name.escapingControls) has it, too"
        case .vacation(let name): "it is in the vacation \(name.escapingControls)"
        case .event: "it is the photo of a gallery event"
        case .archivedEvent: "it is the photo of an archived event"
        case .project: "it belongs to a project"
        case .share(let id):
            "is in an open share: sync-agent shares --revoke \(id), or wait for its end; then forget it again"
        case .restore(let job): "is in restore job \(job) (sync-agent restores); forget it again when that is over"
        case .others(let name):
            "the machine \(name.escapingControls) stores for the same user, and may need it: only a user's one machine deletes. "
                + "One whose place this one has taken (rebuild) counts as gone after 30 days without a sign"
        case .unread(let reason):
            "whether anybody else needs it is not known (\(reason.escapingControls)); try again later"
        }
    }
}
