import ArgumentParser
import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SystemPackage

/// How it stands, in the words of the commands.
extension GallerySite {
    /// The words of the command, but for where on this machine things lie.
    func status(_ session: String) async throws -> WebResponse {
        let lines =
            try await StatusReader(workspace: workspace).read(for: Self.terminal).lines
            + ledger { try OverdueReport.history($0) }
        return try await printed("Status", lines, session, follows: true)
    }

    private static let terminal = Terminal(-1, isTerminal: false, [:], columns: 100)

    /// What `doctor` finds. One at a time.
    func doctor(_ session: String) async throws -> WebResponse {
        let workspace = workspace
        let global = try GlobalOptions.parse(["--config", workspace.installation.location.file.string])
        let checks = Checks { _ in }
        try await examinations.withSlot {
            try await Doctor(
                global: global, environment: workspace.console.environment, triesArchive: false, checks: checks
            ).run()
        }
        let view = DoctorView(terminal: Self.terminal)
        let lines = checks.findings.flatMap(view.lines) + ["", view.summary(checks.findings)]
        return try await printed("Doctor", lines, session)
    }

    private func printed(
        _ title: String, _ lines: [String], _ session: String, follows: Bool = false
    ) async throws -> WebResponse {
        let places = try await places()
        let text = SitePage.Text(
            lines: lines.map(places.removed).joined(separator: "\n"),
            button: isReadOnly ? nil : .init("Check everything", "/doctor"),
            remark: "As sync-agent doctor: it tries the store with small objects, which are removed again, and may "
                + "take a minute.")
        return page(title, .status, session, .text(text), follows: follows)
    }

    /// What is shown in place of this machine's folders.
    func places() async throws -> PlaceNames {
        let known = try await ledger { try $0.overview().folders.map(\.record.path) }
        return PlaceNames(workspace.installation, others: known)
    }
}

/// Pages that follow what happens, where a script listens: server-sent events (WHATWG HTML, 9.2).
extension GallerySite {
    /// Pages that may be followed.
    private static let followed = ["vacations", "shares", "status"]

    /// Tells each time that another look at a page would show something else.
    func events(_ request: WebRequest, _ session: String) -> WebResponse {
        guard let name = request.query("page"), Self.followed.contains(name) else { return missing() }
        guard let place = followers.take() else {
            return WebResponse(503, headers: [.init("Retry-After", "60")] + Self.security)
        }
        let follower = PageFollower(place, time: time) { try await state(of: name, request, session) }
        return Self.content("text/event-stream", Self.noStore, .stream(AsyncStream { await follower.next() }))
    }

    /// The status asks the store, which may cost something: of it, what the ledger tells.
    private func state(of page: String, _ request: WebRequest, _ session: String) async throws -> Data {
        guard page != "status" else { return try await metricsText() }
        guard case .bytes(let bytes) = try await show([page], request, session).body else { return Data() }
        return bytes
    }
}

/// Looks at a page for as long as somebody takes what it tells.
private actor PageFollower {
    private static let pollEvery = Duration.seconds(2)
    /// Nothing is told for so many looks; then a comment shows whether the other side is still there.
    private static let silence = 8

    private let place: PlaceLimit.Place
    private let time: TimeSource
    private let look: @Sendable () async throws -> Data
    private var seen: Data?

    init(_ place: PlaceLimit.Place, time: TimeSource, look: @escaping @Sendable () async throws -> Data) {
        self.place = place
        self.time = time
        self.look = look
    }

    /// - Returns: `nil` at the end: the browser comes again.
    func next() async -> Data? {
        do {
            if seen == nil {
                seen = try await look()
                return Data("retry: 5000\n\n".utf8)
            }
            for _ in 0..<Self.silence {
                try await time.sleep(Self.pollEvery)
                let now = try await look()
                if now != seen {
                    seen = now
                    return Data("data: changed\n\n".utf8)
                }
            }
            return Data(":\n\n".utf8)
        } catch {
            return nil
        }
    }
}

/// How many do the same at one time, where each of them costs much.
final class PlaceLimit: Sendable {
    private let most: Int
    private let taken = Lock(0)

    init(_ most: Int) { self.most = most }

    /// - Returns: a place, for as long as it is held; `nil` while all are.
    func take() -> Place? {
        let isFree = taken.withLock { taken in
            if taken >= most { return false }
            taken += 1
            return true
        }
        return isFree ? Place(self) : nil
    }

    final class Place: Sendable {
        private let limit: PlaceLimit

        fileprivate init(_ limit: PlaceLimit) { self.limit = limit }

        deinit { limit.taken.withLock { $0 -= 1 } }
    }
}

/// The folders of this machine that texts name, and what stands for each on a page: no page tells where things lie.
struct PlaceNames: Sendable {
    private let places: [(written: String, name: String)]

    /// - Parameter others: folders that the ledger knows, watched or not.
    init(_ installation: Installation, others: [FilePath]) {
        let location = installation.location
        var places = (installation.settings.watch.map(\.path) + others).map {
            ($0.string, $0.lastComponent?.string ?? "")
        }
        if case .directory(let store) = installation.settings.store {
            places.append((store.path.string, "the embedded store"))
        }
        let settings = installation.settings
        places += [settings.serve.passwordFile, settings.prices, settings.metrics.textfile].compactMap { $0 }
            .map { ($0.string, $0.lastComponent?.string ?? "") }
        places += [(location.stateFolder.string, "the state folder"), (location.file.string, "the configuration")]
        self.init(places, home: location.home?.string)
    }

    /// - Parameters:
    ///   - places: paths, and what stands for them.
    ///   - home: is written `~`, too.
    init(_ places: [(path: String, name: String)], home: String?) {
        // What lies in another comes first.
        self.places = places.sorted { $0.path.utf8.count > $1.path.utf8.count }.flatMap { path, name in
            let short = home.flatMap { path.hasPrefix($0 + "/") ? "~" + path.dropFirst($0.count) : nil }
            return [path, short].compactMap(\.self).map { ($0.escapingControls, name.escapingControls) }
        }
    }

    /// Of each place, the name alone is left; of any other absolute path, its last part.
    func removed(from line: String) -> String {
        var line = line
        for (written, name) in places {
            while !written.isEmpty, let range = line.firstRange(of: written) {
                // In a table, what stands behind it keeps its column.
                let isColumn = line[range.upperBound...].hasPrefix("  ")
                let gap = isColumn ? max(written.count - name.count, 0) : 0
                line.replaceSubrange(range, with: name + String(repeating: " ", count: gap))
            }
        }
        return Self.withoutPaths(line)
    }

    /// A path begins with a slash that no word, number, address or path goes before.
    private static func withoutPaths(_ line: String) -> String {
        var result = ""
        var last: Character = " "
        var rest = line[...]
        while let character = rest.first {
            let isStart = !(last.isLetter || last.isNumber || "/.~_-)%".contains(last))
            let isAddress = last == ":" && rest.hasPrefix("//") && !rest.hasPrefix("///")
            // One in quotes may have blanks in it.
            let path = rest.prefix {
                last == "\"" ? $0 != "\"" : !$0.isWhitespace && !"\"',;()[]“”".contains($0)
            }
            guard isStart, !isAddress, character == "/" || rest.hasPrefix("~/"), path.count > 1 else {
                // The whole of an address is none of this machine's paths.
                let count = isAddress ? path.count : 1
                result += rest.prefix(count)
                last = rest.prefix(count).last ?? character
                rest = rest.dropFirst(count)
                continue
            }
            let end = path.last.map { ":.".contains($0) } == true ? path.dropLast() : path
            let name = end.split(separator: "/").last.map(String.init) ?? ""
            result += name
            last = name.last ?? "/"
            rest = rest.dropFirst(end.count)
        }
        return result
    }
}
