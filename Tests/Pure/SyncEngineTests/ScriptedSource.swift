import SyncCore
import SyncEngine
import SyncSystem
import SyncTestSupport
import SystemPackage

/// Hints of a test's choosing.
final class ScriptedSource: ChangeSource {
    private struct State {
        var hints: [ChangeHint] = []
        var isStopped = false
        var appeared: [AppearedFile] = []
        var knownUntold: [FilePath: UntoldFile]?
        var note: String? = "a network drive"
        var cause: WatchReport.Cause?
        var scanned: [FilePath] = []
        var onStart: @Sendable () async -> Void = {}
        /// Of the consumers, by their roots.
        var changed: [FilePath: Wakeup] = [:]

        mutating func take(of root: FilePath) -> [ChangeHint] {
            let taken = hints.filter { $0.path.starts(with: root) }
            hints.removeAll { $0.path.starts(with: root) }
            return taken
        }
    }

    private let state = Lock(State())
    private let time = ManualTime()

    func send(_ hints: ChangeHint...) {
        state.withLock { $0.hints += hints }
        wakeAll()
    }

    private func wakeAll() {
        for changed in state.withLock({ Array($0.changed.values) }) { changed.signal() }
    }

    func start(_ roots: [FilePath], untold: [FilePath: UntoldFile]) async {
        let action = state.withLock { state in
            state.knownUntold = untold
            return state.onStart
        }
        await action()
    }

    /// Called before it watches.
    func onStart(_ action: @escaping @Sendable () async -> Void) { state.withLock { $0.onStart = action } }

    func reports() -> [WatchReport] {
        let untold = state.withLock { $0.appeared.last }.map { UntoldFile(path: $0.path, found: $0.changed) }
        let (note, cause) = state.withLock { ($0.note, $0.cause) }
        return [WatchReport(root: Bench.gallery, mode: .polling, note: note, untold: untold, cause: cause)]
    }

    func setReport(_ note: String?, _ cause: WatchReport.Cause?) {
        state.withLock { ($0.note, $0.cause) = (note, cause) }
    }

    func noteScan(of tree: FilePath, _ cost: ScanCost) {
        state.withLock { $0.scanned.append(tree) }
    }

    /// What scans have told of.
    var scanned: [FilePath] { state.withLock { $0.scanned } }

    func judge(_ appeared: [AppearedFile], below root: FilePath) {
        state.withLock { $0.appeared += appeared }
    }

    /// What scans have handed over, and what was known at the start.
    var judged: [AppearedFile] { state.withLock { $0.appeared } }
    var knownUntold: [FilePath: UntoldFile]? { state.withLock { $0.knownUntold } }

    func next(of root: FilePath) async -> [ChangeHint]? {
        let changed = state.withLock { state in
            let changed = state.changed[root] ?? Wakeup()
            state.changed[root] = changed
            return changed
        }
        while !Task.isCancelled {
            let (hints, isStopped) = state.withLock { ($0.take(of: root), $0.isStopped) }
            if isStopped { return nil }
            if !hints.isEmpty { return hints }
            await changed.wait(atMost: nil, time: time.source)
        }
        return nil
    }

    func take(of root: FilePath) -> [ChangeHint] { state.withLock { $0.take(of: root) } }

    func stop() async {
        state.withLock { $0.isStopped = true }
        wakeAll()
    }
}
