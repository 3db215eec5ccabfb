import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// Photos in files of events that ended the agent.
@Suite struct EventSuspectTests {
    private static let file = Bench.gallery.appending("events.json")

    private let bench: Bench

    init() throws {
        bench = try Bench()
    }

    private func event(_ id: String, photo: String) -> String {
        #"{"id":"\#(id)","userId":"u","profileId":"p","eventType":"taskResponse","createdAt":1760948130,"#
            + #""photoData":"\#(Data(photo.utf8).base64EncodedString())"}"#
    }

    private func write(_ events: [String], to path: FilePath = file) {
        bench.disk.write("[" + events.joined(separator: ",") + "]", to: path)
    }

    private func stored(_ photos: String...) throws -> Bool {
        let keys = try photos.map { try KeyLayout(user: "ana").photo(PhotoID(ContentDigest(of: Array($0.utf8)).md5)) }
        return bench.memory.keys == keys.sorted()
    }

    /// One life of an agent that ends as soon as it decodes a bomb: what the next start finds, and makes of it.
    private func live() async throws {
        bench.disk.onPhoto { [ledger = bench.ledger, now = bench.time.now] text throws(PhotoError) in
            guard text.hasPrefix("bomb") else { return }
            _ = try? ledger.recoverInterrupted(at: now)
            throw PhotoError(.stopped, "the agent is gone")
        }
        // The pipeline of a process that has ended can commit nothing any more; this one finds that out.
        try? await bench.pass()
    }

    @Test func `a photo in hand at two unclean ends is set aside by itself; its neighbours in the file are stored`()
        async throws
    {
        write([event("e1", photo: "sunset"), event("e2", photo: "bomb"), event("e3", photo: "beach")])
        for _ in 1...3 { try await live() }
        #expect(try stored("sunset", "beach"))
        let status = try #require(try bench.status(Self.file))
        #expect(status.state == .failed)
        #expect(status.note?.hasPrefix("3 events, 2 photos stored, 1 failed: #2 e2: the agent was ended twice") == true)
        #expect(try bench.ledger.event("e2")?.problem == Ledger.setAside)
        #expect(try bench.ledger.check() == [])
    }

    @Test func `two such photos in one file are both set aside, and the rest of it is stored`() async throws {
        write([
            event("e1", photo: "bomb one"), event("e2", photo: "sunset"), event("e2", photo: "bomb two"),
            event("e4", photo: "beach"),
        ])
        for _ in 1...4 { try await live() }
        #expect(try stored("sunset", "beach"))
        #expect(try bench.status(Self.file)?.state == .failed)
    }

    @Test func `a file that grows does not bring back what was set aside, and what is new is stored`() async throws {
        write([event("e1", photo: "bomb")])
        for _ in 1...3 { try await live() }
        #expect(try stored())
        write([event("e1", photo: "bomb"), event("e2", photo: "sunset")])
        try await bench.pass()
        #expect(try stored("sunset"))
        #expect(try bench.ledger.event("e1")?.problem == Ledger.setAside)
    }

    @Test func `who asks for another try gets one`() async throws {
        write([event("e1", photo: "bomb")])
        for _ in 1...3 { try await live() }
        bench.disk.onPhoto { _ in }
        try await bench.pass()
        #expect(try stored())
        _ = try bench.ledger.retry(nil as [Int64]?)
        try await bench.pass()
        #expect(try stored("bomb"))
        #expect(try bench.status(Self.file)?.state == .uploaded)
    }
}
