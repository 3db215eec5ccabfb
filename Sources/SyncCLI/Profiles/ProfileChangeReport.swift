import SyncCore
import SyncEngine

/// `profiles rename --json`.
struct ProfileRenameReport: Report {
    var id: String
    var name: String
    @Nullable var before: String?

    func lines(on terminal: Terminal) -> [String] {
        let before = before.map { "\($0.escapingControls) is" } ?? "\(id.escapingControls) is called"
        return ["\(before) \(name.escapingControls) now"]
    }
}

/// `profiles merge --json`.
struct ProfileMergeReport: Report {
    struct Profile: Encodable {
        var id: String
        @Nullable var name: String?

        init(_ id: String, _ book: ProfileBook) {
            self.id = id
            name = book.names[id.inBytes]
        }

        var text: String { (name ?? id).escapingControls }
    }

    var dryRun: Bool
    var from: Profile
    var into: Profile
    var events: Int
    var photos: ProfileMigrationReport.Photos

    init(_ result: ProfileMerge.Summary, from: Profile, into: Profile, dryRun: Bool) {
        self.dryRun = dryRun
        self.from = from
        self.into = into
        events = result.events
        photos = ProfileMigrationReport.Photos(
            moved: result.moved,
            left: result.left.map { ProfileMigrationReport.Left(key: $0.key.rawValue, reason: $0.reason) })
    }

    var status: ExitStatus { photos.left.isEmpty ? .done : .partlyDone }

    func lines(on terminal: Terminal) -> [String] {
        var lines = photos.left.flatMap { left in
            ["left  \(left.key.escapingControls)"] + terminal.wrapped(left.reason.escapingControls, indent: 6)
        }
        lines.append("\(from.text) \(dryRun ? "would be" : "is") \(into.text) now: \(held)")
        if !photos.left.isEmpty {
            lines += terminal.wrapped(
                "\(Quantities.counted(photos.left.count, "photo")) keep\(photos.left.count == 1 ? "s" : "") the old key for "
                    + "now, and \(dryRun ? "would be" : "is") \(into.text)'s all the same.")
        }
        return lines
    }

    private var held: String {
        "\(Quantities.counted(events, "event")), \(Quantities.counted(photos.moved, "archived photo")) moved"
    }
}

/// `profiles remove --json`.
struct ProfileRemovalReport: Report {
    var dryRun: Bool
    var id: String
    /// E.164, of all that go.
    var phones: [String]
    @Nullable var name: String?

    func lines(on terminal: Terminal) -> [String] {
        let what = ([id] + phones + [name].compactMap(\.self)).map(\.escapingControls).joined(separator: ", ")
        return [dryRun ? "would be removed: \(what)" : "removed: \(what)"]
    }
}
