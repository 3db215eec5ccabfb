import Foundation
import SyncCore
import SyncDigest
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// What is gone or damaged, has no file here, and is in the store a second time under any other key.
@Suite struct RepairFromTwinTests {
    /// Another object of some bytes, which the ledger knows.
    /// - Parameter file: of the content of which they are the copy.
    private func storeTwin(_ text: String, of file: String, in bench: ProjectBench) async throws -> ObjectKey {
        let (body, key) = (ObjectBody(Array(text.utf8)), try bench.key("twin.jpg"))
        let md5 = ContentDigest(of: Array(file.utf8)).md5
        _ = try await bench.memory.put(
            body, at: key,
            attributes: ObjectAttributes(
                contentType: "image/jpeg",
                metadata: [MetadataName.md5: "\(md5)", MetadataName.sha256: "\(body.digest.sha256)"]),
            condition: .ifAbsent)
        try bench.ledger.noteStoredAgain(
            ObjectRecord(
                key: key, size: body.size, md5: md5, sha256: body.digest.sha256, contentType: "image/jpeg",
                storedAt: bench.clock.now))
        return key
    }

    private func repair(_ bench: ProjectBench, over store: (any ObjectStore)? = nil) async throws -> Int {
        try await StoredCopyRepair(
            store: store ?? bench.store, ledger: bench.queue, keys: KeyLayout(user: "ana"), time: bench.clock.source
        ).run()
    }

    @Test(arguments: [true, false])
    func `an earlier image is made anew of another object with its bytes`(isGone: Bool) async throws {
        let bench = try ProjectBench(listing: "a")
        try await bench.storeInTurn(["image 1.", "image 2."])
        let version = try #require(try bench.ledger.projectVersions(of: "a").first)
        if isGone { bench.memory.lose(version.key) } else { bench.memory.damage(version.key) }
        let fault = isGone ? ObjectFault.missing : .damaged("its bytes are others")
        try bench.ledger.markBroken([BrokenObject(version, fault)], at: bench.clock.now)
        #expect(try await repair(bench) == 0, "there is none")
        let twin = try await storeTwin("image 1.", of: "image 1.", in: bench)
        // One that is damaged itself is none either.
        bench.memory.damage(twin)
        #expect(try await repair(bench) == 0)
        bench.memory.damage(twin)
        #expect(try await repair(bench) == 1)
        #expect(bench.text(version.key) == "image 1.")
        #expect(try bench.ledger.lostBesidePhotos(limit: 9).isEmpty)
        try await bench.refresh()
        #expect(try bench.ledger.overview().lost == 0)
    }

    @Test(arguments: ["image 1.", "image 1, smaller."])
    func `a lost image of a project is made anew of an object of the same photo`(copy: String) async throws {
        let bench = try ProjectBench(listing: "a")
        try await bench.storeInTurn(["image 1."])
        try FileManager.default.removeItem(atPath: bench.tree.path("projects/a.jpg").string)
        try await bench.pass()
        let key = try bench.key("a.jpg")
        bench.memory.lose(key)
        try await bench.refresh()
        #expect(try bench.status("a.jpg")?.state == .lost)
        _ = try await storeTwin(copy, of: "image 1.", in: bench)
        #expect(try await repair(bench) == 1)
        #expect(bench.text(key) == copy)
        #expect(try bench.status("a.jpg")?.state == .missing)
        #expect(try bench.ledger.overview().lost == 0)
    }

    @Test func `what another machine has stored under the name of the file stays`() async throws {
        let bench = try ProjectBench(listing: "a")
        try await bench.storeInTurn(["image 1."])
        try FileManager.default.removeItem(atPath: bench.tree.path("projects/a.jpg").string)
        try await bench.pass()
        let known = try #require(try bench.ledger.object(try bench.key("a.jpg")))
        let other = try ProjectBench(listing: "a", in: bench.memory)
        bench.memory.lose(known.key)
        try await other.storeInTurn(["image 2."])
        try bench.ledger.markBroken([BrokenObject(known, .missing)], at: bench.clock.now)
        _ = try await storeTwin("image 1.", of: "image 1.", in: bench)
        #expect(try await repair(bench) == 0)
        #expect(bench.text(known.key) == "image 2.")
        #expect(try bench.status("a.jpg")?.state == .lost)
    }

    @Test func `what another machine stores under that name while the source is read stays, too`() async throws {
        let bench = try ProjectBench(listing: "a")
        try await bench.storeInTurn(["image 1."])
        try FileManager.default.removeItem(atPath: bench.tree.path("projects/a.jpg").string)
        try await bench.pass()
        let known = try #require(try bench.ledger.object(try bench.key("a.jpg")))
        bench.memory.damage(known.key)
        try bench.ledger.markBroken([BrokenObject(known, .damaged("its bytes are others"))], at: bench.clock.now)
        _ = try await storeTwin("image 1.", of: "image 1.", in: bench)
        let (memory, body) = (bench.memory, ObjectBody(Array("image 2.".utf8)))
        let store = BusyStore(base: bench.store) {
            _ = try await memory.put(
                body, at: known.key,
                attributes: ObjectAttributes(
                    contentType: "image/jpeg", metadata: [MetadataName.md5: "\(body.digest.md5)"]),
                condition: .overwrite)
        }
        #expect(try await repair(bench, over: store) == 0)
        #expect(bench.text(known.key) == "image 2.")
    }
}

/// A store in which something happens whenever an object is read.
private struct BusyStore: WrappedStore {
    let base: any ObjectStore
    let onRead: @Sendable () async throws -> Void

    init(base: any ObjectStore, onRead: @escaping @Sendable () async throws -> Void) {
        self.base = base
        self.onRead = onRead
    }

    func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        try await onRead()
        return try await base.get(key, range: range, into: sink)
    }
}
