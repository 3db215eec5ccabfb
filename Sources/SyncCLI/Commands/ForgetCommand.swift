import ArgumentParser
import Glibc
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

struct ForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Tell no more of photos that are lost.",
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
    var paths: [String]

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @Flag(help: "Print the result as one JSON object.")
    var json = false

    @OptionGroup var global: GlobalOptions

    /// `forget --json`: docs/design.md, section 7.
    private struct Report: Encodable {
        struct Item: Encodable {
            @Nullable var path: String?
            @Nullable var key: String?
        }

        var forgotten: [Item]
        /// What was named and is not lost.
        var kept: [String]
    }

    private struct Found {
        var photos: [PhotoStatus] = []
        var objects: [ObjectRecord] = []
        var kept: [String] = []
        var unknown: [String] = []

        var count: Int { photos.count + objects.count }
        var items: [Report.Item] {
            photos.map { Report.Item(path: $0.path.string, key: ($0.object ?? $0.earlier)?.key.rawValue) }
                + objects.map { Report.Item(path: nil, key: $0.key.rawValue) }
        }
    }

    func run() async throws {
        let environment = ProcessEnvironment.current
        try await reportingFailure(.standardError(environment)) {
            let installation = try Installation(global)
            let ledger = try installation.openLedger()
            let output = Terminal.standardOutput(environment)
            let found = try find(ledger, installation)
            if found.count > 0 {
                if !yes { try ask(found, json ? .standardError(environment) : output) }
                _ = try ledger.forget(photos: found.photos.map(\.id), objects: found.objects.map(\.key))
            }
            try ledger.close()
            if json {
                output.writeLine(try JSONOutput.text(Report(forgotten: found.items, kept: found.kept)))
            } else if found.unknown.isEmpty || found.count > 0 {
                output.writeLine("\(Quantities.counted(found.count, "photo")) forgotten")
            }
            for path in found.kept {
                Terminal.standardError(environment).writeLine(
                    "\(path.escapingControls): it is not lost, and stays known")
            }
            guard found.unknown.isEmpty else {
                throw CommandFailure(.noSuchPath, found.unknown.map(StatusCommand.unknownPath).joined(separator: "\n"))
            }
            if !found.kept.isEmpty { throw ExitStatus.partlyDone.code }
        }
    }

    private func find(_ ledger: Ledger, _ installation: Installation) throws -> Found {
        let locator = PathLocator(roots: installation.settings.watch.map(\.path))
        var found = Found()
        for path in paths {
            let absolute = ProcessEnvironment.workingFolder.pushing(FilePath(path)).lexicallyNormalized()
            let before = found.count
            var count = 0
            var isFile = false
            for candidate in locator.candidates(for: absolute) where count == 0 {
                count = try ledger.photos(at: candidate) { photo in
                    isFile = isFile || photo.path == candidate
                    if photo.isLost { found.photos.append(photo) }
                }
            }
            if count == 0, let key = try? ObjectKey(path), let object = try lost(key, ledger) {
                count = 1
                found.objects.append(object)
            }
            if count == 0 {
                found.unknown.append(absolute.string)
            } else if isFile, found.count == before {
                found.kept.append(absolute.string)
            }
        }
        var seen: Set<Int64> = []
        found.photos.removeAll { !seen.insert($0.id).inserted }
        return found
    }

    private func lost(_ key: ObjectKey, _ ledger: Ledger) throws -> ObjectRecord? {
        try ledger.lostBesidePhotos(limit: .max).first { $0.key == key }
    }

    private func ask(_ found: Found, _ terminal: Terminal) throws {
        for item in found.items.prefix(20) {
            terminal.writeLine("  \((item.path ?? item.key ?? "").escapingControls)")
        }
        if found.count > 20 { terminal.writeLine("  and \(Quantities.count(found.count - 20)) more") }
        // What is forgotten is not told again: silence is no yes.
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(.usage, "nobody is there to be asked; say --yes to forget")
        }
        guard Question.confirm("Forget \(Quantities.counted(found.count, "lost photo"))?", on: terminal) else {
            throw CommandFailure(.failed, "nothing was forgotten")
        }
    }
}

extension PhotoStatus {
    /// Of which nothing is left that anybody could have back.
    var isLost: Bool { state == .lost || state == .missing && object?.problem != nil }
}
