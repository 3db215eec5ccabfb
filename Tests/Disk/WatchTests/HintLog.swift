import SyncCore
import SyncTestSupport
import SystemPackage

@testable import SyncWatch

/// Consumes the hints of a watcher and waits for some of them. A hint that does not come is told by what came in its place.
/// What is to be scanned counts as scanned at once: what is polled is polled again only then.
struct HintLog {
    struct TimedOut: Error, CustomStringConvertible {
        var description: String
    }

    let watcher: FolderWatcher
    /// All hints since the last ``forget()``.
    private(set) var seen: [ChangeHint] = []
    /// Of each scan.
    var cost = ScanCost(lasted: .zero, processor: .zero)

    init(_ watcher: FolderWatcher) {
        self.watcher = watcher
    }

    mutating func forget() {
        seen = []
    }

    /// Takes the hints that are there, or the next ones.
    @discardableResult
    mutating func take() async throws -> [ChangeHint] {
        let watcher = watcher
        let roots = watcher.reports().map(\.root)
        let hints = await withTaskGroup(of: [ChangeHint]?.self) { group in
            for root in roots { group.addTask { await watcher.next(of: root) } }
            // Cancelled, `next(of:)` answers nil.
            group.addTask {
                await Patience.runOut()
                return nil
            }
            var hints: [ChangeHint]?
            // What has come for another root at the same time is taken, too.
            while let found = await group.next() {
                if let found { hints = (hints ?? []) + found }
                group.cancelAll()
            }
            return hints
        }
        guard let hints else {
            throw TimedOut(description: "no hint for \(Patience.limit); so far: \(seen.suffix(50))")
        }
        seen += hints
        for case .tree(let path) in hints { watcher.noteScan(of: path, cost) }
        return hints
    }

    /// Waits until all hints are there, among others.
    mutating func wait(for hints: ChangeHint...) async throws {
        try await wait { seen in hints.allSatisfy(seen.contains) }
    }

    mutating func wait(until condition: ([ChangeHint]) -> Bool) async throws {
        while !condition(seen) { try await take() }
    }

    /// Waits until everything that was done before has been hinted: until a file that is written now is.
    mutating func settle(_ tree: WatchedTree, _ name: String = "settle.jpg") async throws {
        let file = try tree.write(name)
        try await wait(for: .file(file))
        seen.removeAll { $0.path == file }
    }
}

/// Starts a watcher, waits for the first hints, and stops it at the end.
func withWatcher(
    _ roots: [FilePath], pollInterval: Duration = .seconds(3_600), checkInterval: Duration = .seconds(3_600),
    calls: WatchCalls = .system, _ body: (FolderWatcher, inout HintLog) async throws -> Void
) async throws {
    let watcher = FolderWatcher(pollInterval: pollInterval, checkInterval: checkInterval, calls: calls)
    await watcher.start(roots)
    var log = HintLog(watcher)
    do {
        try await log.wait { seen in roots.allSatisfy { seen.contains(.tree($0)) } }
        log.forget()
        try await body(watcher, &log)
    } catch {
        await watcher.stop()
        throw error
    }
    await watcher.stop()
}
