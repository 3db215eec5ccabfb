package import SyncCore
import SyncSystem
package import SystemPackage

/// A mailbox for each root: a consumer that a disk holds up leaves the hints of the other roots to theirs.
final class HintMailboxes: Sendable {
    private struct State {
        var mailboxes: [FilePath: HintMailbox] = [:]
        var isClosed = false
    }

    private let state = Lock(State())

    subscript(root: FilePath) -> HintMailbox {
        state.withLock { state in
            if let mailbox = state.mailboxes[root] { return mailbox }
            let mailbox = HintMailbox()
            if state.isClosed { mailbox.close() }
            state.mailboxes[root] = mailbox
            return mailbox
        }
    }

    /// Closes those that there are and those that are asked for later.
    func close() {
        let mailboxes = state.withLock { state in
            state.isClosed = true
            return Array(state.mailboxes.values)
        }
        for mailbox in mailboxes { mailbox.close() }
    }
}

/// Hands hints from the thread that sees changes to the one task that consumes them.
///
/// Bounded: for each path the latest hint is kept, at the place of the first; when a root has more than ``limit`` paths,
/// they become one `.tree` hint for it. Posting never waits.
package final class HintMailbox: Sendable {
    /// Paths per root.
    package let limit: Int

    fileprivate struct Entry {
        var hint: ChangeHint
        var root: FilePath
    }

    fileprivate struct State {
        /// In order of arrival; `nil` where a collapse took one out.
        var entries: [Entry?] = []
        var places: [FilePath: Int] = [:]
        var counts: [FilePath: Int] = [:]
        var collapsed: Set<FilePath> = []
        var waiting: CheckedContinuation<[ChangeHint]?, Never>?
        var isClosed = false
    }

    private let state = Lock(State())

    package init(limit: Int = 4_096) {
        self.limit = limit
    }

    /// Adds hints about a root and what is below it. Ignored after ``close()``.
    package func post(_ hints: [ChangeHint], of root: FilePath) {
        guard !hints.isEmpty else { return }
        let delivery = state.withLock { state -> (CheckedContinuation<[ChangeHint]?, Never>, [ChangeHint])? in
            guard !state.isClosed else { return nil }
            for hint in hints { state.add(hint, of: root, limit: limit) }
            guard let waiting = state.waiting else { return nil }
            state.waiting = nil
            return (waiting, state.takeAll())
        }
        if let (waiting, hints) = delivery { waiting.resume(returning: hints) }
    }

    /// Takes all hints, oldest first, and waits when there are none. `nil` once closed, or when the task is cancelled: then
    /// the hints stay for the next call. One task may wait at a time.
    package func next() async -> [ChangeHint]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> [ChangeHint]?? in
                    precondition(state.waiting == nil, "a mailbox has one consumer")
                    // A cancellation from here on finds the continuation; one from before is seen here.
                    if state.isClosed || Task.isCancelled { return .some(nil) }
                    if !state.places.isEmpty { return state.takeAll() }
                    state.waiting = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            state.withLock { state in
                defer { state.waiting = nil }
                return state.waiting
            }?.resume(returning: nil)
        }
    }

    /// Takes all hints that are there, oldest first. For the consumer, which does not wait.
    package func take() -> [ChangeHint] {
        state.withLock { $0.takeAll() }
    }

    /// Drops what was not taken and ends the consumer's waiting.
    package func close() {
        state.withLock { state in
            let waiting = state.waiting
            state = State(isClosed: true)
            return waiting
        }?.resume(returning: nil)
    }
}

extension HintMailbox.State {
    fileprivate mutating func add(_ hint: ChangeHint, of root: FilePath, limit: Int) {
        let path = hint.path
        if let place = places[path] {
            // Whoever looks at what else is there for a folder sees this, too.
            if case .others = hint { return }
            entries[place]?.hint = hint
            return
        }
        // The root's own hint is pending, and above this one.
        if collapsed.contains(root) { return }
        if counts[root, default: 0] >= limit {
            collapse(root)
            return
        }
        places[path] = entries.count
        counts[root, default: 0] += 1
        entries.append(.init(hint: hint, root: root))
    }

    private mutating func collapse(_ root: FilePath) {
        for (place, entry) in entries.enumerated() {
            guard let entry, entry.root == root else { continue }
            places[entry.hint.path] = nil
            entries[place] = nil
        }
        collapsed.insert(root)
        counts[root] = 1
        places[root] = entries.count
        entries.append(.init(hint: .tree(root), root: root))
    }

    fileprivate mutating func takeAll() -> [ChangeHint] {
        let hints = entries.compactMap { $0?.hint }
        entries.removeAll(keepingCapacity: entries.count <= 1_024)
        places.removeAll(keepingCapacity: entries.count <= 1_024)
        counts.removeAll()
        collapsed.removeAll()
        return hints
    }
}
