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

    func add(_ finding: Finding) {
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

/// `doctor --json`: its fields are a contract (docs/design.md, section 7).
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
