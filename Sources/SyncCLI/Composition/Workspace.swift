import ArgumentParser
import Logging
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncSystem

/// A command that works on an installation. It gets it open, and says what came of it; opening, closing, printing and the
/// exit code are ``run()``'s.
protocol WorkspaceCommand: AsyncParsableCommand {
    var options: AnswerOptions { get }
    func answer(_ workspace: Workspace) async throws -> Answer
}

extension WorkspaceCommand {
    func run() async throws {
        try await Console.run(json: options.json) { console in
            try await Workspace(options.global, console).whileOpen(answer)
        }
    }
}

/// One opened installation: the configuration, and of the rest what a command asks for. What was opened is closed once,
/// on errors too.
final class Workspace: Sendable {
    private struct Opened {
        var ledger: LedgerQueue?
        var lock: AgentLock?
    }

    let installation: Installation
    let console: Console
    private let opened = Mutex(Opened())

    /// - Throws: `ConfigError`.
    init(_ global: GlobalOptions, _ console: Console) throws {
        self.console = console
        installation = try Installation(global, environment: console.environment)
    }

    private init(_ installation: Installation, _ console: Console, _ ledger: LedgerQueue) {
        self.installation = installation
        self.console = console
        opened.withLock { $0.ledger = ledger }
    }

    var settings: Settings { installation.settings }
    var time: TimeSource { installation.time }
    var logger: Logger { installation.logger }

    /// Opened when it is asked for first; made when it is not there yet. A command asks for one thing after the other.
    var ledger: LedgerQueue {
        get async throws {
            if let ledger = opened.withLock({ $0.ledger }) { return ledger }
            let ledger = try await LedgerQueue.open { [installation] in try installation.openLedger() }
            opened.withLock { $0.ledger = ledger }
            return ledger
        }
    }

    /// The configured store with retries, after a look that the ledger is about it.
    /// - Throws: ``CommandFailure``, ``StoreError``, ``LedgerError``.
    func store(_ access: LocalStoreAccess) async throws -> any ObjectStore {
        let store = try await ledger { [installation] ledger in
            let store = try installation.makeStore(ledger, access: access)
            try installation.requireOwn(store, of: ledger)
            return store
        }
        return installation.retrying(store)
    }

    /// The configured store with retries, to read what the ledger need not know.
    func readStore() async throws -> any ObjectStore {
        installation.retrying(try await ledger { [installation] in try installation.makeStore($0, access: .reads) })
    }

    /// The same, with a copy of the ledger of which nothing is kept: for a look.
    func withLedgerCopy() async throws -> Workspace {
        Workspace(installation, console, LedgerQueue(try await ledger { try $0.copyInMemory() }))
    }

    /// Takes the one agent's lock until the end.
    func takeLock() async throws {
        _ = try await ledger
        let lock = try installation.takeLock()
        opened.withLock { $0.lock = lock }
    }

    /// The agent's lock; `nil` while an agent, or a pass, has it.
    func takeLockIfFree() async throws -> AgentLock? {
        _ = try await ledger
        do {
            return try installation.takeLock()
        } catch is AgentLock.Held {
            return nil
        }
    }

    /// Runs a command's body, and closes what it opened.
    func whileOpen<Value>(_ body: (Workspace) async throws -> Value) async throws -> Value {
        let value: Value
        do {
            value = try await body(self)
        } catch {
            try? await close()
            throw error
        }
        try await close()
        return value
    }

    /// The lock goes last: whoever gets it finds the ledger closed.
    private func close() async throws {
        let last = opened.withLock { opened in
            defer { opened = Opened() }
            return opened
        }
        defer { withExtendedLifetime(last.lock) {} }
        try await last.ledger?.finish { try $0.close() }
    }
}

extension Installation {
    func retrying(_ store: any ObjectStore) -> any ObjectStore {
        RetryingStore(store, time: time, logger: logger)
    }
}
