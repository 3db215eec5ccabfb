import SyncCore
import SyncEngine
import SyncSystem

/// What was found so far, in its order. Each finding is told at once: some take a while.
final class Checks: Sendable {
    private let tell: @Sendable (Finding) -> Void
    private let list = Mutex<[Finding]>([])

    init(tell: @escaping @Sendable (Finding) -> Void) {
        self.tell = tell
    }

    var findings: [Finding] { list.withLock { $0 } }

    /// - Parameter finding: `nil` where there is nothing to tell.
    func add(_ finding: Finding?) {
        guard let finding else { return }
        list.withLock { $0.append(finding) }
        tell(finding)
    }

    /// What the command ends with: the gravest of what is wrong, `done` when nothing is.
    var status: ExitStatus {
        let wrong = Set(findings.filter { $0.state == .wrong }.map { $0.cause.map(ExitStatus.init) ?? .failed })
        if let gravest = Self.gravest.first(where: wrong.contains) { return gravest }
        return wrong.isEmpty ? .done : .failed
    }

    /// Without a configuration nothing works; without credentials nobody knows whether the store would.
    private static let gravest: [ExitStatus] = [.configuration, .refused, .storeUnreachable]
}

/// `doctor --json`: its fields are a contract (docs/commands.md).
struct DoctorReport: Encodable {
    struct Check: Encodable {
        var name: String
        var state: String
        var detail: String
        @Nullable var remedy: String?
    }

    var checks: [Check]

    init(_ findings: [Finding]) {
        checks = findings.map {
            Check(name: $0.name, state: $0.state.rawValue, detail: $0.detail, remedy: $0.remedy)
        }
    }
}

/// The findings for people, in 80 columns.
struct DoctorView {
    let terminal: Terminal

    private static let table = Table(.left(9), .left(18), .rest)

    private var textWidth: Int { terminal.textWidth - 27 }

    /// ```
    /// limited  conditional-puts  the server does not look at If-None-Match, and overwrites
    ///                            -> a HEAD goes before each put
    /// ```
    func lines(_ finding: Finding) -> [String] {
        let words = finding.detail.split(separator: "\n").flatMap {
            TextLayout.wrapped(String($0).escapingControls, to: textWidth)
        }
        let remedy = finding.remedy.map { TextLayout.wrapped($0.escapingControls, to: textWidth - 3) } ?? []
        let style: Terminal.Style =
            switch finding.state {
            case .ok: .green
            case .limited: .yellow
            case .wrong: .red
            }
        return Self.table.rows(
            Self.word(for: finding.state), finding.name, last: words.isEmpty ? [""] : words,
            first: { terminal.styled($0, style) })
            + remedy.enumerated().map { Self.table.row("", "", ($0 == 0 ? "-> " : "   ") + $1) }
    }

    func summary(_ findings: [Finding]) -> String {
        let counts = Finding.State.allCases.map { state in
            "\(findings.count { $0.state == state }) \(Self.word(for: state))"
        }
        return counts.joined(separator: ", ")
    }

    private static func word(for state: Finding.State) -> String {
        state == .wrong ? "WRONG" : state.rawValue
    }
}
