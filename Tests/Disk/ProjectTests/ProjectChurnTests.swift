import Foundation
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct ProjectChurnTests {
    private static let count = 5_000
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

    /// Rewrites the list ten times a second: by a rename, in place, and now and then cut off for a moment.
    private static func rewrite(_ bench: ProjectBench, until isDone: Mutex<Bool>) throws {
        let path = bench.folder.appending("projects.json")
        let records = (0..<count).map(record)
        var round = 0
        while true {
            let isLast = isDone.withLock { $0 }
            let known = isLast ? count : min(500 + round * 150, count)
            let bytes = Array(("[" + records.prefix(known).joined(separator: ",\n") + "]").utf8)
            switch isLast ? 0 : round % 3 {
            case 0:
                try bench.tree.write(bytes, to: "projects/.theirs")
                rename(bench.folder.appending(".theirs").string, path.string)
            default:
                let file = try FileDescriptor.open(
                    path, .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
                _ = try file.writeAll(bytes.prefix(bytes.count / 3))
                usleep(20_000)
                if round % 3 == 1 { _ = try file.writeAll(bytes.dropFirst(bytes.count / 3)) }
                try file.close()
            }
            if isLast { return }
            round += 1
            usleep(80_000)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `5,000 projects in a list that is rewritten all the time are stored once each, and none is lost`() async throws
    {
        let bench = try ProjectBench()
        for number in 0..<Self.count where number % 50 != 11 {
            try bench.write("image \(number).", to: "p\(number).jpg")
        }
        let isDone = Mutex(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let pool = BlockingPool(name: "app", threads: 1)
            group.addTask { try await pool.run { try Self.rewrite(bench, until: isDone) } }
            for _ in 0..<3 { try await bench.pass() }
            isDone.withLock { $0 = true }
            try await group.waitForAll()
        }
        try await bench.pass()

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
