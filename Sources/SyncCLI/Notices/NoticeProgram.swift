import SyncCore
import SyncS3
import SyncSystem
import SystemPackage

/// Runs a program for one notice: no shell, bounded in time and output, and without the agent's secrets
/// (``NoticeEnvironment``).
struct NoticeProgram: Sendable {
    /// Bytes.
    static let outputLimit = 64 << 10

    /// What a failure is told of: `notify.command`.
    let name: String
    let environment: [String: String]
    let timeout: Duration
    private let pool: BlockingPool

    /// - Parameter pool: waits for the program.
    init(name: String, environment: [String: String], pool: BlockingPool, timeout: Duration = .seconds(30)) {
        self.pool = pool
        self.name = name
        self.environment = environment
        self.timeout = timeout
    }

    /// - Parameters:
    ///   - words: the program and its arguments. Of these, an error tells the program only: people put secrets into arguments.
    ///   - variables: added to the environment.
    /// - Throws: ``NoticeFailure``; `CancellationError`, when the program is gone.
    func run(_ words: [String], variables: [String: String] = [:], input: [UInt8] = []) async throws {
        let child = ChildProcess(
            words: words, environment: NoticeEnvironment.passed(on: environment).merging(variables) { $1 },
            input: input, timeout: timeout, outputLimit: Self.outputLimit)
        let name = "\(name) (\((words.first ?? "").escapingControls))"
        do {
            let ending = try await pool.runChecking { try child.run($0) }
            switch ending.status {
            case .exited(0): return
            case .exited(let code): throw NoticeFailure("\(name) exited with \(code)\(said(ending))")
            case .signalled(let signal): throw NoticeFailure("\(name) was ended by signal \(signal)\(said(ending))")
            }
        } catch let failure as ChildProcess.Failure {
            throw NoticeFailure("\(name) \(reason(failure))")
        }
    }

    private func reason(_ failure: ChildProcess.Failure) -> String {
        switch failure {
        case .notStarted(let error): "cannot be started: \(error.description.lowercased()); check its path and mode"
        case .tooSlow: "did not end within \(timeout.components.seconds) seconds and was killed"
        case .tooMuch: "printed more than \(Self.outputLimit) bytes and was killed"
        }
    }

    /// The program's last words, which are what helps; it may have printed secrets among them.
    private func said(_ ending: ChildProcess.Ending) -> String {
        let secrets = ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"].compactMap { environment[$0] }
        let words = Redaction(known: secrets).text(ending.errors.isEmpty ? ending.output : ending.errors)
        return words.isEmpty ? "; run it by hand to see why" : ": \(words)"
    }
}

/// What of the agent's environment a program for notices gets: where it finds its files, its language and the desktop.
/// Credentials are in the rest, and in names that nobody can foresee, so that what is passed on is listed.
enum NoticeEnvironment {
    private static let names: Set<String> = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE", "DISPLAY", "WAYLAND_DISPLAY",
        "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "SSL_CERT_FILE", "SSL_CERT_DIR", "SYNC_AGENT_CONFIG",
    ]
    private static let prefixes = ["LC_", "XDG_"]

    static func passed(on environment: [String: String]) -> [String: String] {
        environment.filter { name, _ in names.contains(name) || prefixes.contains(where: name.hasPrefix) }
    }
}

/// Why a notice was not handed over, and what to do. It holds no secret.
struct NoticeFailure: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
