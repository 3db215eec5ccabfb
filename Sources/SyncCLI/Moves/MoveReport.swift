import FoundationEssentials
import SyncCore
import SyncEngine

/// `move-store --json`: the fields are a contract (docs/commands.md).
struct MoveReport: Report {
    struct ClassChange: Encodable {
        var from: String
        var to: String
        var objects: Int
    }

    var from: String
    var to: String
    /// What there is to have.
    var objects = 0
    var bytes: Int64 = 0
    var copied = 0
    var copiedBytes: Int64 = 0
    /// What the new store had already.
    var present = 0
    /// What has to be restored in the old store first.
    var archived = 0
    var archivedBytes: Int64 = 0
    /// What the new store does not have.
    var missing = 0
    var classes: [ClassChange] = []
    var problems: [KeyRemark] = []
    /// What is damaged in the old store, and stays there.
    var damaged: [KeyRemark] = []
    /// What of shares is still in the old store.
    var left: [KeyRemark] = []
    /// Objects that this machine knows and neither store has.
    var lost = 0
    /// Objects of the new store that were forgotten for good before, and are deleted there, too.
    var forgotten = 0
    /// Shares that get new links.
    var shares = 0
    /// Whether the configuration names the new store.
    var switched = false
    var dryRun: Bool
    /// What has to stand in the configuration, where it cannot be put there.
    @Nullable var section: String?

    @Untold var missingBytes: Int64 = 0
    /// How many there are of problems, of which the first are named.
    @Untold var counts = (problems: 0, damaged: 0, left: 0)

    var isWhole: Bool { archived == 0 && missing == 0 && counts.problems == 0 }

    var status: ExitStatus { dryRun || switched && left.isEmpty && damaged.isEmpty && lost == 0 ? .done : .partlyDone }

    mutating func note(_ summary: StoreCopy.Summary) {
        objects = summary.total.objects
        bytes = summary.total.bytes
        copied += summary.copied.objects
        copiedBytes += summary.copied.bytes
        present = max(summary.present.objects - copied, 0)
        archived = summary.archived.objects
        archivedBytes = summary.archived.bytes
        missing = summary.missing.objects
        missingBytes = summary.missing.bytes
        for (change, count) in summary.classes {
            classes.append(ClassChange(from: "\(change.old)", to: "\(change.new)", objects: count))
        }
        classes.sort { ($0.from, $0.to) < ($1.from, $1.to) }
        (problems, counts.problems) = Self.named(summary.problems)
        (damaged, counts.damaged) = Self.named(summary.damaged)
    }

    mutating func note(left list: ProblemList<ObjectProblem>) { (left, counts.left) = Self.named(list) }

    /// What of shares is in the old store after all was moved: nobody comes back to it, for whatever reason it stays.
    mutating func note(lastCheck removal: StoreCopy.Removal) {
        note(left: removal.left)
        left += removal.failures.map {
            KeyRemark(ShareKeys($0.share).manifest, "what guests have sent may be only there (\($0.reason))")
        }
        counts.left += removal.failures.count
    }

    private static func named(_ list: ProblemList<ObjectProblem>) -> ([KeyRemark], Int) {
        (list.first.map { KeyRemark($0.key, $0.reason) }, list.count)
    }

    /// What is to be done.
    var preview: [String] {
        let size = "\(Quantities.counted(objects, "object")) (\(Quantities.bytes(bytes)))"
        var lines = ["\(from.escapingControls) has \(size)."]
        lines.append(
            "To copy to \(to.escapingControls): \(Quantities.counted(missing, "object")) "
                + "(\(Quantities.bytes(missingBytes))); \(Quantities.count(present)) are there")
        if archived > 0 { lines.append(archivedLine) }
        return lines
    }

    private var archivedLine: String {
        "\(Quantities.counted(archived, "object is", plural: "objects are")) in the archive of the old store "
            + "(\(Quantities.bytes(archivedBytes))) and cannot be read before it is restored: sync-agent restore --all asks for "
            + "it, and tells the price first. Then run this command again."
    }

    /// Of what a store has kept from before.
    static func line(ofForgotten count: Int) -> String {
        "\(Quantities.counted(count, "object")) there \(count == 1 ? "was" : "were") forgotten for good since: the next sync-agent "
            + "sync deletes \(count == 1 ? "it" : "them") there, too, where no other machine needs \(count == 1 ? "it" : "them")."
    }

    func lines(on terminal: Terminal) -> [String] {
        if dryRun { return preview }
        func told(_ what: String, _ problems: [KeyRemark], of count: Int, advice: String = "") -> [String] {
            problems.map {
                terminal.styled(what, .red) + "  \($0.key.escapingControls): \($0.reason.escapingControls)\(advice)"
            } + (count > problems.count ? ["and \(Quantities.count(count - problems.count)) more"] : [])
        }
        var lines = told("not copied", problems, of: counts.problems) + told("damaged", damaged, of: counts.damaged)
        if lost > 0 {
            lines.append(
                "\(Quantities.counted(lost, "object")) that this machine knows "
                    + "\(lost == 1 ? "is" : "are") in neither store as stored: what has its file here is stored again by the next "
                    + "sync-agent sync, which names the rest")
        }
        lines += told(
            "still there", left, of: counts.left,
            advice:
                ". The share can still be seen in the old store, and nothing ends it there: remove its folder by hand")
        lines.append(
            "\(Quantities.counted(copied, "object")) copied (\(Quantities.bytes(copiedBytes))), "
                + "\(Quantities.count(present)) were there")
        lines += classes.map {
            "\(Quantities.counted($0.objects, "object")) of class \($0.from) \($0.objects == 1 ? "is" : "are") \($0.to) now"
        }
        if archived > 0 { lines.append(archivedLine) }
        if let section {
            return lines + [
                "Everything is there. The configuration cannot be edited here; put this into it in place of its store:",
                "",
                section, "", "and then: sync-agent move-store --adopt",
            ]
        }
        guard switched else {
            return lines + ["The configuration still names \(from.escapingControls). Run the command again to go on."]
        }
        lines.append("The configuration names \(to.escapingControls) now; the old store keeps what it has.")
        if forgotten > 0 { lines.append(Self.line(ofForgotten: forgotten)) }
        if shares > 0 {
            lines.append(
                "\(Quantities.counted(shares, "share gets a new link", plural: "shares get new links")): sync-agent sync makes "
                    + "them, sync-agent shares shows them.")
        }
        return lines + [
            "Other machines of this user: run the same command there, as long as the old store is there. It takes what they have "
                + "stored since, and their shares."
        ]
    }
}

/// `move-store --adopt --json`: the fields are a contract (docs/commands.md).
struct AdoptReport: Report {
    var store: String
    /// `same`, `copy`, `alike`.
    var kinship: String
    /// Objects that this machine knows, and how many of them the store has.
    var known: Int
    var found: Int
    /// Objects that were forgotten for good, and are deleted there, too.
    var forgotten: Int
    var adopted: Bool

    init(_ finding: StoreRecognition.Finding, store: String, adopted: Bool) {
        self.store = store
        self.adopted = adopted
        known = finding.known
        found = finding.found
        forgotten = finding.forgotten.count
        kinship = finding.kinship.rawValue
    }

    private var what: String {
        switch kinship {
        case "same": "is the store that this machine knows, under another name"
        case "copy": "is a copy of the store that this machine knows"
        default: "has what this machine knows; nothing tells whether it is the same store"
        }
    }

    func preview(from bound: String) -> [String] {
        [
            "\(store.escapingControls) \(what) (\(bound.escapingControls)).",
            "It has \(Quantities.count(found)) of the \(Quantities.counted(known, "object")) that are known here"
                + (found < known ? "; what is missing is stored again where its file is still here." : "."),
        ] + forgottenLines
    }

    private var forgottenLines: [String] { forgotten > 0 ? [MoveReport.line(ofForgotten: forgotten)] : [] }

    /// What it lacks may be in the store that this machine has left.
    var status: ExitStatus { adopted && found < known ? .partlyDone : .done }

    private var lack: [String] {
        guard found < known else { return [] }
        return [
            "It lacks \(Quantities.count(known - found)) of the \(Quantities.counted(known, "object")) that are known here. What has "
                + "its file here is stored again by the next sync. Where the old store is still there, it has the rest: "
                + "sync-agent move-store OLD, and then sync-agent move-store NEW, bring all of it here."
        ]
    }

    func lines(on terminal: Terminal) -> [String] {
        adopted
            ? lack + forgottenLines + ["This machine goes on with \(store.escapingControls). Next: sync-agent sync"]
            : [
                "\(store.escapingControls) has \(Quantities.count(found)) of the \(Quantities.counted(known, "object")) that "
                    + "are known here; nothing was changed"
            ]
    }
}

extension StoreCopy.Removal {
    /// What keeps a move to another store from its end; `nil` where nothing that guests have sent would be lost by it.
    var obstacle: (lines: [String], failure: CommandFailure)? {
        guard let first = failures.first else { return nil }
        var lines = left.first.map { "still there: \($0.key.rawValue): \($0.reason)" }
        if left.unnamed > 0 { lines.append("and \(Quantities.count(left.unnamed)) more") }
        lines += failures.map { "share \($0.share): \($0.reason)" }
        let gravest = failures.first { !$0.isInOtherHands } ?? first
        let shares = Quantities.counted(failures.count, "share")
        return (
            lines.map(\.escapingControls),
            CommandFailure(
                ExitStatus(gravest.error),
                "\(shares) did not end in the old store, which the configuration still names; everything is copied: "
                    + "run the command again")
        )
    }
}

extension StoreCopy.Removal.Failure {
    /// In plain words.
    var reason: String { isInOtherHands ? "in other hands: another process works on it" : "\(error)" }
}
