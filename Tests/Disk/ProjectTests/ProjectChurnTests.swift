import Foundation
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct ProjectChurnTests {
    private static let count = 2_000
    private static let start = 1_700_000_000

    /// Every tenth repeats the request of the one before, every 25th its template within 5 s; some fail, some process.
    private static func record(_ number: Int) -> String {
        let isTwin = number % 25 == 3
        let status = number % 50 == 7 ? "Failed" : number % 50 == 11 ? "Processing" : "Completed"
        let request = number % 10 == 0 && number > 0 ? number - 1 : number
        let created = start + (isTwin ? (number - 1) * 60 + 3 : number * 60)
        return """
            {"id": "p\(number)", "templateId": "t\(isTwin ? number - 1 : number)", "templateName": "T", \
            "createdAt": \(created), "status": "\(status)", "requestId": "r\(request)", "extra": [\(number)]}
            """
    }

    private static func isStored(_ number: Int) -> Bool {
        number % 25 != 3 && number % 50 != 7 && number % 50 != 11 && (number % 10 != 0 || number == 0)
    }

    /// The app that makes the projects. Each step rewrites the list in another way: whole, by a rename; cut off, in place;
    /// the rest of that; cut off once more, until the next step. It steps when the agent has done something: how often the
    /// list changes is the same on each machine.
    private final class App: Sendable {
        private struct State {
            var known = 500
            var steps = 0
            var isFinished = false
            var failure: (any Error)?
        }

        private let bench: ProjectBench
        private let records = (0..<ProjectChurnTests.count).map(ProjectChurnTests.record)
        private let state = Lock(State())

        init(_ bench: ProjectBench) {
            self.bench = bench
        }

        /// Whether all projects have been in the list.
        var isComplete: Bool { state.withLock { $0.known >= records.count } }
        var steps: Int { state.withLock { $0.steps } }

        func step() {
            state.withLock { state in
                defer { state.steps += 1 }
                // An image that waited is sent in the last pass, which nothing rewrites the list in.
                if state.isFinished { return }
                do {
                    if state.steps % 4 == 0 { state.known = min(state.known + 150, records.count) }
                    let bytes = text(of: state.known)
                    switch state.steps % 4 {
                    case 0: try replace(bytes)
                    case 2: try overwrite(bytes)
                    default: try overwrite(bytes.prefix(bytes.count / 3))
                    }
                } catch {
                    state.failure = state.failure ?? error
                }
            }
        }

        /// The list is whole, and stays so.
        func finish() throws {
            state.withLock { $0.isFinished = true }
            try replace(text(of: records.count))
            if let failure = state.withLock({ $0.failure }) { throw failure }
        }

        private func text(of known: Int) -> [UInt8] {
            Array(("[" + records.prefix(known).joined(separator: ",\n") + "]").utf8)
        }

        private func replace(_ bytes: [UInt8]) throws {
            try bench.tree.write(bytes, to: "projects/.theirs")
            guard
                rename(
                    bench.folder.appending(".theirs").string, bench.folder.appending("projects.json").string) == 0
            else { throw Errno(rawValue: errno) }
        }

        private func overwrite(_ bytes: some Sequence<UInt8>) throws {
            let file = try FileDescriptor.open(
                bench.folder.appending("projects.json"), .writeOnly, options: [.create, .truncate],
                permissions: .ownerReadWrite)
            try file.closeAfter { _ = try file.writeAll(bytes) }
        }
    }

    @Test
    func `2,000 projects in a list that is rewritten all the time are stored once each, and none is lost`() async throws
    {
        let bench = try ProjectBench()
        for number in 0..<Self.count where number % 50 != 11 {
            try bench.write("image \(number).", to: "p\(number).jpg")
        }
        let app = App(bench)
        // Before the agent looks: of a folder that never had a list, all images are stored.
        app.step()
        for number in stride(from: 20, through: Self.count, by: 40) {
            bench.store.add(StoreFault(.put, number: number, .meanwhile { app.step() }))
        }
        while !app.isComplete {
            try await bench.pass()
            app.step()
        }
        try await bench.pass()
        try app.finish()
        // A list is looked at once a second, and what met one that was cut off waits for ten minutes.
        bench.clock.jump(.seconds(3_600))
        try await bench.pass()
        // By now every image was sent, and each fortieth brought another list.
        #expect(app.steps > 40)

        let expected = (0..<Self.count).filter(Self.isStored)
        #expect(Set(bench.stored) == Set(expected.map { "p\($0).jpg" } + ["projects.json"]))
        for number in expected { #expect(try bench.content("p\(number).jpg") == "image \(number).") }
        let puts = bench.store.calls.filter { $0.operation == .put && $0.key.hasSuffix(".jpg") }
        #expect(puts.count == expected.count)
        let onDisk = try bench.tree.read("projects/projects.json")
        #expect(try bench.content("projects.json") == String(decoding: onDisk, as: UTF8.self))
        let entries = try bench.entries()
        #expect(entries.count == Self.count)
        #expect(entries.count { $0.state == .uploaded } == expected.count)
        #expect(entries.count { $0.state == .duplicate } == Self.count / 10 - 1 + Self.count / 25)
        #expect(try bench.ledger.check() == [])
    }
}
