import ArgumentParser
import SyncCore
import SyncLedger
import SystemPackage

struct ForgetCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Stop reporting photos that are lost.",
        usage: "sync-agent forget <paths> ... [<options>]",
        discussion: """
            A photo is lost when its file is gone, and what was stored of it is gone or damaged too. It is told by status, \
            and makes sync and verify end with 3, until it is back or forgotten. What is on the disk, or stored, is never \
            forgotten by this. A folder stands for what is lost below it; an archived photo of an event, or an earlier image \
            of a project, goes by its key, as status tells it. It asks first.

            EXAMPLES
              sync-agent forget ~/Pictures/Gallery/IMG_0001.jpg
              sync-agent forget --yes ~/Pictures/Gallery --json | jq .forgotten
            """
    )

    @Argument(help: "Files, folders or keys of what is lost.", completion: .file())
    var paths: [PathArgument]

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup var options: AnswerOptions

    private struct Found {
        var photos: [PhotoStatus] = []
        var objects: [ObjectRecord] = []
        var kept: [String] = []
        var unknown = UnknownPaths()

        var count: Int { photos.count + objects.count }
        var items: [ForgetReport.Item] {
            photos.map { ForgetReport.Item(path: $0.path.text, key: ($0.object ?? $0.earlier)?.key.rawValue) }
                + objects.map { ForgetReport.Item(path: nil, key: $0.key.rawValue) }
        }
    }

    func answer(_ workspace: Workspace) async throws -> Answer {
        let (paths, locator) = (paths.map(\.text), workspace.installation.pathLocator)
        let ledger = try await workspace.ledger
        let found = try await ledger { try Self.find(paths, $0, locator) }
        if found.count > 0 {
            if !yes { try ask(found, workspace.console.people) }
            try await ledger { _ = try $0.forget(photos: found.photos.map(\.id), objects: found.objects.map(\.key)) }
        }
        let report = ForgetReport(forgotten: found.items, kept: found.kept)
        for path in found.kept {
            workspace.console.errors.writeLine("\(path.escapingControls): it is not lost, and stays known")
        }
        if !options.json, found.count == 0, let failure = found.unknown.failure { throw failure }
        return Answer(report, failure: found.unknown.failure)
    }

    private static func find(_ paths: [String], _ ledger: Ledger, _ locator: PathLocator) throws -> Found {
        var found = Found()
        for path in paths {
            let before = found.count
            var isFile = false
            var isKnown = try locator.photos(at: path, in: ledger) { photo, place in
                isFile = isFile || photo.path == place
                if photo.isLost { found.photos.append(photo) }
            }
            if !isKnown, let key = try? ObjectKey(path), let object = try lost(key, ledger) {
                isKnown = true
                found.objects.append(object)
            }
            if !isKnown {
                found.unknown.add(path)
            } else if isFile, found.count == before {
                found.kept.append(ProcessEnvironment.absolute(path).text)
            }
        }
        var seen: Set<Int64> = []
        found.photos.removeAll { !seen.insert($0.id).inserted }
        return found
    }

    private static func lost(_ key: ObjectKey, _ ledger: Ledger) throws -> ObjectRecord? {
        try ledger.lostBesidePhotos(limit: .max).first { $0.key == key }
    }

    private func ask(_ found: Found, _ terminal: Terminal) throws {
        for item in found.items.prefix(20) {
            terminal.writeLine("  \((item.path ?? item.key ?? "").escapingControls)")
        }
        if found.count > 20 { terminal.writeLine("  and \(Quantities.count(found.count - 20)) more") }
        // What is forgotten is not told again.
        try Question.confirmLoss(
            "Forget \(Quantities.counted(found.count, "lost photo"))?", on: terminal, advice: "use --yes to forget",
            no: "nothing was forgotten")
    }
}

extension PhotoStatus {
    /// Of which nothing is left that anybody could have back.
    var isLost: Bool { state == .lost || state == .missing && object?.problem != nil }
}
