import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import UnixSignals

/// What `doctor` tries with a store. It makes nothing but objects in a scratch folder, and removes them whatever happens.
struct StoreExamination: Sendable {
    /// For the first answer, and for tidying up after a Ctrl-C.
    private static let patience = Duration.seconds(20)

    let installation: Installation
    /// With retries.
    let store: any ObjectStore
    let checks: Checks
    let steps: StoreSteps

    /// Somebody pressed Ctrl-C; what was made is removed.
    struct Interrupted: Error { let signal: UnixSignal }

    /// - Throws: ``Interrupted``.
    func run() async throws {
        guard await isUsable() else { return }
        let scratch = ScratchFolder(
            store, user: installation.settings.user, id: .random(in: .min ... .max))
        do {
            let end = try await Interruptible.run(until: .sigint, .sigterm, .sighup) { [steps, store] in
                try await steps.run(StoreChecks(store, scratch: scratch), scratch)
            }
            if case .interrupted(let signal, _) = end { throw Interrupted(signal: signal) }
        } catch {
            await tidyUp(scratch)
            throw error
        }
        await tidyUp(scratch)
    }

    private func isUsable() async -> Bool {
        do {
            try await within(Self.patience) { [store] in try await store.check() }
            checks.add(.ok("store", store.identity.location))
            return true
        } catch let error as StoreError {
            checks.add(.wrong("store", error))
        } catch {
            checks.add(
                .wrong(
                    "store", "no answer within \(Quantities.span(Self.patience))",
                    remedy: "check the network, and store.endpoint",
                    cause: CommandFailure(.storeUnreachable, store.identity.location)))
        }
        return false
    }

    private func tidyUp(_ scratch: ScratchFolder) async {
        let name = "clean-up"
        let remedy = "the next doctor removes them, from an hour on; or delete \(scratch.prefix)"
        do {
            let (left, older) = try await within(Self.patience) { [installation] in
                (try await scratch.empty(), try await scratch.removeLeftovers(now: installation.time.now()))
            }
            let others = older == 0 ? "" : "; so are \(Quantities.counted(older, "object")) of earlier doctors"
            checks.add(
                left.isEmpty
                    ? .ok(name, "all that was tried is removed again\(others)")
                    : .wrong(name, "\(Quantities.counted(left.count, "object")) could not be removed", remedy: remedy))
        } catch let error as StoreError {
            checks.add(.wrong(name, error.description, remedy: remedy, cause: error))
        } catch {
            checks.add(.wrong(name, "objects could not be removed: \(error)", remedy: remedy, cause: error))
        }
    }

    // MARK: Limits

    private struct Overdue: Error, CustomStringConvertible {
        var description: String { "it took too long" }
    }

    private func within<Value: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask(operation: body)
            group.addTask { [installation] in
                try await installation.time.sleep(limit)
                throw Overdue()
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw Overdue() }
            return value
        }
    }
}
