import FoundationEssentials
import Logging
import SyncCore
import SyncEngine
import SyncSystem
import SyncTestSupport
import Testing

@Suite struct NotifiersTests {
    private struct Refusal: Error {}

    private final class Listener: Notifier {
        private let heard = Lock<[Notice]>([])
        private let failure: (any Error)?

        init(failure: (any Error)? = nil) {
            self.failure = failure
        }

        var notices: [Notice] { heard.withLock { $0 } }

        func deliver(_ notice: Notice) async throws {
            heard.withLock { $0.append(notice) }
            try Task.checkCancellation()
            if let failure { throw failure }
        }
    }

    private let notice = Notice(
        .restoreReady, title: "3 photos\n are back", message: "…", at: Date(timeIntervalSince1970: 0))
    private let lines = LogLines()

    private func notifiers(_ ways: [Listener]) -> Notifiers { Notifiers(ways, logger: lines.logger) }

    @Test func `everyone is told, and a way that fails is one warning`() async throws {
        let ways = [Listener(), Listener(failure: Refusal()), Listener()]
        try await notifiers(ways).deliver(notice)
        #expect(ways.map(\.notices) == Array(repeating: [notice], count: 3))
        #expect(lines.lines.map(\.text) == [#"warning: "3 photos\u{a} are back" could not be told: Refusal()"#])
    }

    @Test(arguments: [
        (Notice.Kind.restoreReady, ["jobId": "3"], "restores/3"), (.restoreFailed, [:], "restores"),
        (.guestPhotos, ["shareId": "s"], "shares/s"), (.photoFailed, [:], "?state=failed"), (.diskFull, [:], "status"),
    ])
    func `where there is a gallery, a notice says which page tells more`(
        kind: Notice.Kind, facts: [String: String], page: String
    ) async throws {
        let way = Listener()
        let gallery = Notifiers([way], gallery: "http://home:8420/", logger: Logger(label: "test"))
        let notice = Notice(kind, title: "t", message: "So it is.", facts: facts, at: Date(timeIntervalSince1970: 0))
        try await gallery.deliver(notice)
        let told = try #require(way.notices.first)
        #expect(told.message == "So it is. http://home:8420/\(page)" && told.title == "t")
        #expect(told.facts == facts.merging(["page": "http://home:8420/\(page)"]) { $1 })
        try await notifiers([way]).deliver(notice)
        #expect(way.notices.last == notice)
    }

    @Test func `a cancelled notice is not taken for told, and nobody is blamed`() async {
        let way = Listener()
        let notifiers = notifiers([way])
        let notice = notice
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                withUnsafeCurrentTask { $0?.cancel() }
                try await notifiers.deliver(notice)
            }
            await #expect(throws: CancellationError.self) { try await group.waitForAll() }
        }
        #expect(lines.all.isEmpty)
    }
}
