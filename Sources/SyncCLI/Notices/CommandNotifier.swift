import SyncCore
import SyncSystem

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

    func tell(_ notice: Notice) async throws {
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
