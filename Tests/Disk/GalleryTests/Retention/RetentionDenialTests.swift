import Foundation
import SyncCore
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct RetentionDenialTests {
    @Test func `an event whose photo the store denied is looked after behind all others`() async throws {
        let bench = try RetentionBench()
        for number in 0..<3 {
            try bench.write(bench.event("e\(number)", photo: try RetentionBench.photo(number)), to: "\(number).json")
        }
        try await bench.sync()
        let denied = try bench.key("e0")
        try bench.ledger.noteDenial(denied, of: .cleanup, at: bench.time.now)
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted) == (3, 3) && summary.errors.isEmpty)
        let archive = try Set((0..<3).map { try bench.key("e\($0)").rawValue })
        let puts = bench.store.calls.filter { $0.operation == .put && archive.contains($0.key) }.map(\.key)
        #expect(puts.count == 3 && puts.last == denied.rawValue)
        #expect(try bench.ledger.denials(of: .cleanup) == [:])
    }

    @Test func `an event that has come to something else when its turn comes is told of all the same`() async throws {
        let bench = try RetentionBench()
        for number in 0..<2 {
            try bench.write(bench.event("e\(number)", photo: try RetentionBench.photo(number)), to: "\(number).json")
        }
        try await bench.sync()
        try bench.ledger.noteDenial(try bench.key("e0"), of: .cleanup, at: bench.time.now)
        let (edited, file) = (bench.event("other", age: 1), bench.gallery.appending("0.json"))
        var calls = FileRewriteCalls()
        let system = FileRewriteCalls()
        calls.write = { bytes, draft, model in
            try Data(edited.utf8).write(to: URL(filePath: file.string))
            return try system.write(bytes, draft, model)
        }
        let summary = try await bench.cleanUp(calls: calls)
        #expect((summary.archived, summary.deleted) == (1, 1))
        #expect(summary.skipped.count + summary.errors.count == 1)
    }

    @Test func `what a cleanup is denied is noted for the next one`() async throws {
        let bench = try RetentionBench()
        try bench.write(bench.event("e0", photo: try RetentionBench.photo(0)), to: "0.json")
        try await bench.sync()
        let key = try bench.key("e0")
        bench.store.add(StoreFault(.put, key: key.rawValue, number: 1, .failBefore(.accessDenied)))
        #expect(try await bench.cleanUp().errors.count == 1)
        #expect(try bench.ledger.denials(of: .cleanup).keys.elementsEqual([key]))
        #expect(try await bench.cleanUp().archived == 1)
        #expect(try bench.ledger.denials(of: .cleanup) == [:])
    }
}
