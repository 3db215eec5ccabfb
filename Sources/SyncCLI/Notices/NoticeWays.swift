import FoundationEssentials
import Logging
import SyncConfig
import SyncCore
import SyncEngine
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
    /// Waits for the program.
    let pool: BlockingPool
    var timeout = Duration.seconds(30)

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

    init(_ description: String) { self.description = description }
}

/// Starts the program of `notify.command`, with its arguments as they are configured: nothing of the notice gets into
/// them. The program finds the notice in its environment (`SYNC_AGENT_KIND`, `SYNC_AGENT_TITLE`, `SYNC_AGENT_MESSAGE`,
/// and each fact, `jobId` as `SYNC_AGENT_JOB_ID`), and as JSON on stdin.
struct CommandNotifier: Notifier {
    private static let prefix = "SYNC_AGENT_"
    /// Bytes of one variable. execve(2) refuses 128 KiB and more; the JSON has all.
    private static let valueLimit = 16 << 10

    private let words: [String]
    private let program: NoticeProgram

    /// - Parameter words: program and arguments, at least one.
    init(words: [String], environment: [String: String], pool: BlockingPool, timeout: Duration = .seconds(30)) {
        self.words = words
        program = NoticeProgram(name: "notify.command", environment: environment, pool: pool, timeout: timeout)
    }

    func deliver(_ notice: Notice) async throws {
        try await program.run(
            words, variables: Self.variables(of: notice), input: Array(try JSONOutput.text(notice).utf8))
    }

    private static func variables(of notice: Notice) -> [String: String] {
        var variables: [String: String] = [:]
        for (name, value) in notice.facts { variables[variableName(name)] = variableValue(value) }
        variables["\(prefix)KIND"] = notice.kind.rawValue
        variables["\(prefix)TITLE"] = variableValue(notice.title)
        variables["\(prefix)MESSAGE"] = variableValue(notice.message)
        return variables
    }

    /// `jobId` is `SYNC_AGENT_JOB_ID`.
    private static func variableName(_ fact: String) -> String {
        fact.reduce(into: prefix) { name, character in
            if character.isUppercase { name += "_" }
            name += character.isASCII && (character.isLetter || character.isNumber) ? character.uppercased() : "_"
        }
    }

    /// A variable ends at its first NUL (environ(7)).
    private static func variableValue(_ text: String) -> String {
        String(decoding: text.utf8.filter { $0 != 0 }.prefix(valueLimit), as: UTF8.self)
    }
}

/// Shows a bubble on the desktop of the session that the agent runs in: org.freedesktop.Notifications, by way of
/// notify-send(1).
struct DesktopNotifier: Notifier {
    private static let sessionVariables = ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"]

    private let tool: FilePath
    private let program: NoticeProgram

    /// `nil` where there is no desktop, or no notify-send on PATH.
    init?(environment: [String: String], pool: BlockingPool) {
        guard Self.sessionVariables.contains(where: { environment[$0]?.isEmpty == false }),
            let tool = Self.tool(in: environment["PATH"] ?? "")
        else { return nil }
        self.tool = tool
        program = NoticeProgram(name: "the desktop", environment: environment, pool: pool, timeout: .seconds(10))
    }

    func deliver(_ notice: Notice) async throws {
        try await program.run([tool.string] + Self.arguments(for: notice))
    }

    /// After `--`, a title that begins with a dash is no option.
    static func arguments(for notice: Notice) -> [String] {
        ["--app-name=sync-agent", "--", notice.title.escapingControls, body(notice.message)]
    }

    private static func tool(in path: String) -> FilePath? {
        path.split(separator: ":").map { FilePath(String($0)).appending("notify-send") }.first { candidate in
            candidate.isAbsolute && candidate.allows(.execute)
        }
    }

    /// A body may hold markup, with images and links (Desktop Notifications Specification, "Markup"), and notify-send
    /// decodes escapes of C in it. Scalars count here: `<` with a combining mark is a tag all the same.
    private static func body(_ message: String) -> String {
        message.escapingControls.escaping({ "&<>\\".unicodeScalars.contains($0) }) { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            default: #"\\"#
            }
        }
    }
}

extension Workspace {
    /// All ways that the configuration names, and the desktop where there is one.
    var notifiers: Notifiers {
        let (settings, environment, pool) = (settings.notify, installation.environment, threads.notices)
        var ways: [any Notifier] = []
        if !settings.command.isEmpty {
            ways.append(CommandNotifier(words: settings.command, environment: environment, pool: pool))
        }
        if let webhook = settings.webhook { ways.append(WebhookNotifier(address: webhook, time: time)) }
        if let desktop = DesktopNotifier(environment: environment, pool: pool) { ways.append(desktop) }
        return Notifiers(ways, kinds: settings.kinds, gallery: installation.galleryOfAgent, logger: installation.logger)
    }
}

/// Posts a notice as JSON to the address of `notify.webhook`. Whoever knows the address can use it, so that no error
/// tells any of it, its host included.
struct WebhookNotifier: Notifier {
    /// A notice, and the same once more as chat servers show it.
    private struct Body: Encodable {
        let kind: Notice.Kind
        let title: String
        let message: String
        let facts: [String: String]
        let at: Date
        /// What Slack, Mattermost and Rocket.Chat show of a webhook's body.
        let text: String
    }

    struct Problem {
        let words: String
        /// Whether the same request may succeed when it is sent again.
        let mayPass: Bool
    }

    let address: SecretURL
    let time: TimeSource

    func deliver(_ notice: Notice) async throws {
        let request = try request(for: notice)
        // One for each notice, closed after it: news is rare, and a transport has a thread.
        let transport = try CurlTransport()
        try await closing(transport.close) { try await send(request, over: transport) }
    }

    private func send(_ request: HTTPRequest, over transport: any HTTPTransport) async throws {
        let policy = RetryPolicy()
        var attempt = 1
        while let problem = try await problem(of: request, over: transport) {
            guard problem.mayPass, attempt < policy.maximumAttempts else {
                throw NoticeFailure("notify.webhook \(problem.words)")
            }
            try await time.sleep(policy.delay(afterAttempt: attempt, random: time.random()))
            attempt += 1
        }
    }

    private func request(for notice: Notice) throws -> HTTPRequest {
        guard let url = HTTPURL(address.revealed) else {
            throw NoticeFailure("notify.webhook is no http or https address; correct it in the configuration")
        }
        let body = Body(
            kind: notice.kind, title: notice.title, message: notice.message, facts: notice.facts, at: notice.at,
            text: "\(notice.title): \(notice.message)")
        var request = HTTPRequest(
            .post, url, headers: ["Content-Type": "application/json", "User-Agent": "sync-agent"],
            body: HTTPBody(bytes: Array(try JSONOutput.text(body).utf8)))
        if let name = address.revealed.user(percentEncoded: false) {
            let pair = "\(name):\(address.revealed.password(percentEncoded: false) ?? "")"
            request.headers["Authorization"] = "Basic \(Data(pair.utf8).base64EncodedString())"
        }
        request.patience = .seconds(10)
        return request
    }

    /// `nil` when it was taken.
    private func problem(of request: HTTPRequest, over transport: any HTTPTransport) async throws -> Problem? {
        do {
            // What a chat server answers is of no use to anyone, however long it is.
            let response = try await transport.send(request, target: .sink(accepts: { _ in true }, { _ in }))
            switch response.status {
            case 200..<300: return nil
            case 429, 500...:
                return Problem(words: "answered \(response.status)", mayPass: true)
            case 300..<400:
                return Problem(
                    words: "answered \(response.status), a redirect; configure the address that it leads to",
                    mayPass: false)
            default:
                return Problem(
                    words: "answered \(response.status); check the address in the configuration", mayPass: false)
            }
        } catch let error as TransportError {
            return Problem(error.code)
        }
    }
}

extension WebhookNotifier.Problem {
    /// Not in curl's words: those name the host.
    init(_ code: TransportError.Code) {
        switch code {
        case .unreachable: self.init(words: "cannot be reached; check the network and the address", mayPass: true)
        case .proxyFailed: self.init(words: "cannot be reached through the proxy", mayPass: true)
        case .timedOut: self.init(words: "did not answer in time", mayPass: true)
        case .connectionLost: self.init(words: "broke the connection off", mayPass: true)
        case .insecure, .untrusted: self.init(words: "cannot be trusted: its TLS or certificate fails", mayPass: false)
        default: self.init(words: "cannot be called (\(code.rawValue)); check the address", mayPass: false)
        }
    }
}

extension HTTPURL {
    /// `nil` unless it is an http or https address with a host. Name and password are left out.
    init?(_ url: URL) {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let host = parts.encodedHost, !host.isEmpty
        else { return nil }
        // The query goes out as it is written, and not in the order and encoding that S3 signs.
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        self.init(
            scheme: scheme, host: host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host, port: parts.port,
            path: path + (parts.percentEncodedQuery.map { "?\($0)" } ?? ""))
    }
}

/// One call of `notify.heartbeat`. Whoever knows the address can call it, so that no error tells any of it.
struct HeartbeatCall: Sendable {
    private static let limit = Duration.seconds(10)

    let address: SecretURL

    /// - Throws: ``NoticeFailure``; `CancellationError`.
    func run() async throws {
        guard let url = HTTPURL(address.revealed) else {
            throw NoticeFailure("notify.heartbeat is no http or https address; correct it in the configuration")
        }
        var request = HTTPRequest(.get, url, headers: ["User-Agent": "sync-agent"])
        request.patience = Self.limit
        request.limit = Self.limit
        let transport = try CurlTransport()
        let status: Int
        do {
            status = try await closing(transport.close) { [request] in
                try await transport.send(request, target: .sink(accepts: { _ in true }, { _ in })).status
            }
        } catch let error as TransportError {
            throw NoticeFailure("notify.heartbeat \(WebhookNotifier.Problem(error.code).words)")
        }
        guard (200..<300).contains(status) else {
            throw NoticeFailure("notify.heartbeat answered \(status); check the address in the configuration")
        }
    }
}
