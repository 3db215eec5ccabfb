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
        var ledger: Ledger?
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

    var settings: Settings { installation.settings }
    var time: TimeSource { installation.time }
    var logger: Logger { installation.logger }

    /// Opened when it is asked for first; made when it is not there yet.
    var ledger: Ledger {
        get throws {
            try opened.withLock { opened in
                if let ledger = opened.ledger { return ledger }
                let ledger = try installation.openLedger()
                opened.ledger = ledger
                return ledger
            }
        }
    }

    /// The ledger for those who await it.
    var queue: LedgerQueue { get throws { LedgerQueue(try ledger) } }

    /// The configured store, which the ledger is about.
    func store(_ access: LocalStoreAccess) throws -> any ObjectStore {
        try installation.openStore(try ledger, access: access)
    }

    func restores(_ access: LocalStoreAccess) throws -> RestoreServices {
        try RestoreServices(installation, ledger: try ledger, access: access)
    }

    /// Takes the one agent's lock until the end.
    func takeLock() throws {
        _ = try ledger
        let lock = try installation.takeLock()
        opened.withLock { $0.lock = lock }
    }

    /// Runs a command's body, and closes what it opened.
    func whileOpen<Value>(_ body: (Workspace) async throws -> Value) async throws -> Value {
        let value: Value
        do {
            value = try await body(self)
        } catch {
            try? close()
            throw error
        }
        try close()
        return value
    }

    /// The lock goes last: whoever gets it finds the ledger closed.
    private func close() throws {
        let last = opened.withLock { opened in
            defer { opened = Opened() }
            return opened
        }
        defer { withExtendedLifetime(last.lock) {} }
        try last.ledger?.close()
    }
}

extension Installation {
    /// The configured store with retries, after a look that the ledger is about it.
    /// - Throws: ``CommandFailure``, ``StoreError``, ``LedgerError``.
    func openStore(_ ledger: Ledger, access: LocalStoreAccess) throws -> any ObjectStore {
        let store = try makeStore(ledger, access: access)
        try requireOwn(store, of: ledger)
        return retrying(store)
    }

    func retrying(_ store: any ObjectStore) -> any ObjectStore {
        RetryingStore(store, time: time, logger: logger)
    }

    /// The agent's lock; `nil` while an agent, or a pass, has it.
    func takeLockIfFree() throws -> AgentLock? {
        do {
            return try takeLock()
        } catch is AgentLock.Held {
            return nil
        }
    }
}

extension LedgerQueue {
    /// With a thread of its own.
    init(_ ledger: Ledger) {
        self.init(ledger, pool: BlockingPool(name: "ledger", threads: 1))
    }
}
