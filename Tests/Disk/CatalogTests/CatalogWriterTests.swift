import FoundationEssentials
import SyncCore
import SyncEngine
import SyncGzip
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

struct CatalogWriterTests {
    private let bench: CatalogBench

    init() throws { bench = try CatalogBench() }

    @Test func `a pass writes what is new, once, and nothing when nothing is`() async throws {
        let machine = try bench.machine("laptop")
        #expect(try await machine.write() == .unchanged)
        #expect(try await bench.segments() == [])
        try await machine.see(["a.jpg": "a", "b.jpg": "b"])
        _ = try await machine.write()
        #expect(try await bench.segments() == ["00000001-00000001.jsonl.gz"])
        #expect(bench.store.count(.put) == 1)
        #expect(try await machine.write() == .unchanged)
        #expect(bench.store.count(.put) == 1 && bench.store.count(.list) == 1)
    }

    @Test func `new photos come into a segment of their own, and small ones are taken together`() async throws {
        let machine = try bench.machine("laptop")
        var files = Dictionary(uniqueKeysWithValues: (0..<100).map { ("\($0).jpg", "\($0)") })
        try await machine.see(files)
        _ = try await machine.write()
        for number in 100..<104 {
            files["\(number).jpg"] = "\(number)"
            try await machine.see(files)
            guard case .written = try await machine.write() else {
                Issue.record("not written")
                return
            }
        }
        // The full one stays; the four that followed became one.
        #expect(try await bench.segments() == ["00000001-00000001.jsonl.gz", "00000002-00000005.jsonl.gz"])
        let other = try bench.machine("laptop")
        #expect(try await other.rebuild().photos == 104)
        #expect(try other.known().count == 104)
    }

    @Test func `a photo that moves or changes is known where and as it is`() async throws {
        let machine = try bench.machine("laptop")
        var files = Dictionary(uniqueKeysWithValues: (0..<50).map { ("\($0).jpg", "\($0)") })
        try await machine.see(files)
        _ = try await machine.write()
        files["moved.jpg"] = files.removeValue(forKey: "7.jpg")
        files["8.jpg"] = "other"
        try await machine.see(files, moves: true)
        _ = try await machine.write()
        #expect(try await bench.segments().count == 2)
        let other = try bench.machine("laptop")
        _ = try await other.rebuild()
        let known = try other.known()
        #expect(known.contains("/pictures/Gallery/moved.jpg missing"))
        #expect(!known.contains { $0.hasPrefix("/pictures/Gallery/7.jpg") })
        let key = try bench.keys.photo(PhotoID(ContentDigestOf("other").md5))
        #expect(try other.ledger.photoPaths(of: key, limit: 5) == ["/pictures/Gallery/8.jpg"])
        // The earlier content is known as a version of it.
        #expect(known.count { $0.hasPrefix("/recovered/") } == 0)
    }

    @Test func `a write that fails at any request is told, and the next pass makes up for it`() async throws {
        for operation in [StoreOperation.list, .put, .deleteMany] {
            for isAfter in [false, true] {
                let bench = try CatalogBench()
                let machine = try bench.machine("laptop")
                try await machine.see(["a.jpg": "a", "b.jpg": "b"])
                _ = try await machine.write()
                try await machine.see(["a.jpg": "a", "b.jpg": "b", "c.jpg": "c"])
                let effect: StoreFault.Effect = isAfter ? .failAfter(.unreachable) : .failBefore(.unreachable)
                bench.store.add(StoreFault(operation, number: 1, effect))
                let outcome = try await machine.write()
                guard case .failed = outcome else {
                    Issue.record("\(operation): \(outcome)")
                    return
                }
                #expect(try machine.ledger.catalogStatus().problem != nil)
                _ = try await machine.write()
                #expect(try machine.ledger.catalogStatus().problem == nil)
                #expect(try machine.ledger.catalogStatus().unwritten == 0)
                let other = try bench.machine("laptop")
                #expect(try await other.rebuild().fromCatalog == 3, "\(operation) \(isAfter)")
            }
        }
    }

    @Test func `a write that something on the way sends twice is told as taken already, and is one all the same`()
        async throws
    {
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a", "b.jpg": "b"])
        bench.store.add(StoreFault(.put, .failAfter(.alreadyExists)))
        guard case .written = try await machine.write() else {
            Issue.record("it was not written")
            return
        }
        #expect(try await bench.segments() == ["00000001-00000001.jsonl.gz"])
        #expect(try machine.ledger.catalogStatus().problem == nil)
    }

    @Test func `what changes while it is written belongs to the next write`() async throws {
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a"])
        let ledger = machine.ledger
        bench.store.add(
            StoreFault(
                .put, number: 1,
                .meanwhile {
                    _ = try? ledger.markGone(machine.folder.id, path: "a.jpg", at: Date(timeIntervalSince1970: 5))
                    _ = try? ledger.reconcile(
                        machine.folder.id, directory: "",
                        files: [ScannedFile(name: "z.jpg", stamp: CatalogMachine.stamp("a"))], settled: { _ in true },
                        stillThere: { _ in false }, at: Date(timeIntervalSince1970: 6))
                }))
        _ = try await machine.write()
        #expect(try machine.ledger.catalogStatus().unwritten == 2)
        _ = try await machine.write()
        let other = try bench.machine("laptop")
        _ = try await other.rebuild()
        #expect(try other.known() == ["/pictures/Gallery/z.jpg missing"])
    }

    @Test(arguments: [true, false])
    func `a photo that a restore saves is no reason for a write, and the end of its saving is`(
        isAsked: Bool
    ) async throws {
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a", "b.jpg": "b", "c.jpg": "c"])
        let stored = try await bench.memory.list(prefix: "users/ana/photos/", after: nil, limit: 9).objects
        let items = stored.map {
            RestoreJobDraft.Item(key: $0.key, size: $0.size, storageClass: .deepArchive, tier: .bulk)
        }
        let (ledger, now) = (machine.ledger, bench.time.now)
        let draft = RestoreJobDraft(requestedBy: "ana", tier: .bulk, days: 7, output: "/out", items: items)
        #expect(try ledger.addRestoreJob(draft, at: now).job != nil)
        if isAsked { try ledger.note(RestoreOutcome(state: .retrieving), of: [1, 2, 3], at: now) }
        try ledger.note(RestoreOutcome(state: .restored), of: [1, 2, 3], at: now)
        _ = try await machine.write()
        let digest = try ledger.catalogStatus().stateDigest
        for item in 1...2 as ClosedRange<Int64> {
            try ledger.noteSaved(item, at: now)
            #expect(try await machine.write() == .unchanged)
        }
        try ledger.noteSaved(3, at: now)
        _ = try await machine.write()
        #expect(try ledger.catalogStatus().stateDigest != digest)
    }

    private func profileNames(of ledger: Ledger) throws -> [String] {
        try ledger.catalogState().compactMap { line -> String? in
            if case .profile(let profile) = line { profile.name } else { nil }
        }
    }

    @Test func `a ledger that was put back overwrites nothing, and goes on when rebuild has read what is newer`()
        async throws
    {
        let back = try await bench.putBack()
        let segments = try await bench.segments()
        try await back.see(["a.jpg": "a", "c.jpg": "c"])
        for _ in 0..<2 {
            guard case .refused(let reason) = try await back.write() else {
                Issue.record("it was written")
                return
            }
            #expect(try back.ledger.catalogStatus().problem == reason)
            #expect(try await bench.segments() == segments)
            #expect(try await doubt(of: back)?.description.contains(reason) == true)
        }
        _ = try await back.rebuild()
        #expect(
            try back.known() == [
                "/pictures/Gallery/a.jpg uploaded", "/pictures/Gallery/b.jpg missing",
                "/pictures/Gallery/c.jpg uploaded",
            ])
        #expect(try back.ledger.catalogStatus().problem == nil)
        #expect(try await doubt(of: back) == nil)
        guard case .written = try await back.write() else {
            Issue.record("it was not written")
            return
        }
        let other = try bench.machine("laptop")
        #expect(try await other.rebuild().fromCatalog == 3)
        #expect(try profileNames(of: other.ledger) == ["Grandma"])
    }

    @Test func `a ledger that was put back does not take its newer catalogue out of the store`() async throws {
        let back = try await bench.putBack()
        let segments = try await bench.segments()
        guard case .refused = try await back.writer.remove(after: {}) else {
            Issue.record("it was removed")
            return
        }
        #expect(try await bench.segments() == segments)
        _ = try await back.rebuild()
        _ = try await back.writer.remove(after: {})
        #expect(try await bench.segments().isEmpty)
    }

    @Test func `a segment that a later program has written is not taken for read by a rebuild`() async throws {
        let back = try await bench.putBack()
        let status = try back.ledger.catalogStatus()
        let newer = CatalogSegment(machine: status.machine, from: status.next + 1, to: status.next + 1)
        let file = try GzipWriter()
        var bytes: [UInt8] = []
        var header = CatalogHeader(
            user: "ana", machine: newer.machine, name: "laptop", from: newer.from, to: newer.to,
            written: bench.time.now, replaces: [:])
        header.catalog = 99
        let line = Array(try CatalogCoding(keys: bench.keys).data(.header(header)))
        try file.write(line, isLast: true) { bytes += $0 }
        try await bench.memory.store(bytes, at: newer.key(bench.keys))
        #expect(try await back.rebuild().problems.isEmpty == false)
        try await back.see(["a.jpg": "a", "c.jpg": "c"])
        guard case .refused = try await back.write() else {
            Issue.record("it was written")
            return
        }
    }

    @Test func `a write that comes to the store after the one that made up for it is no later ledger's`() async throws {
        let (machine, begun) = try await bench.interrupted(comes: false)
        let status = try machine.ledger.catalogStatus()
        let late = begun.segment
        // Nobody knows yet whether it comes, and that is no reason to keep a photo.
        #expect(try await doubt(of: machine) == nil)
        guard case .written(let written) = try await machine.write() else {
            Issue.record("it was not written")
            return
        }
        #expect(written.to == late.to + 1)
        try await bench.memory.store(
            [1], at: CatalogSegment(machine: status.machine, from: late.from, to: late.to).key(bench.keys))
        #expect(try await doubt(of: machine) == nil)
        try await machine.see(["a.jpg": "a", "b.jpg": "b", "c.jpg": "c"])
        guard case .written = try await machine.write() else {
            Issue.record("it was not written")
            return
        }
        let other = try bench.machine("laptop")
        #expect(try await other.rebuild().fromCatalog == 3)
    }

    /// What others need of an object that nobody has.
    private func doubt(of machine: CatalogMachine) async throws -> OtherReferences.Doubt? {
        try await OtherReferences(
            store: bench.store, ledger: LedgerQueue(machine.ledger), keys: bench.keys,
            spool: bench.tree.path("others.part"), pool: bench.pool, time: bench.time.source
        ).references(to: [try ObjectKey("users/ana/photos/0.dat")]).doubt
    }

    @Test func `a write that the store has, and whose process ended before it was noted, is one`() async throws {
        let machine = try await bench.interrupted().machine
        let segments = try await bench.segments()
        // Forgetting a photo is not refused because of it.
        #expect(try await doubt(of: machine) == nil)
        let status = try machine.ledger.catalogStatus()
        #expect(status.begun == nil && status.unwritten == 0 && status.problem == nil)
        guard case .unchanged = try await machine.write() else {
            Issue.record("it was written again")
            return
        }
        #expect(try await bench.segments() == segments)
    }

    @Test func `an interrupted write is known again in a store that has no digests of its own`() async throws {
        let bench = try CatalogBench(hasDigests: false)
        let machine = try await bench.interrupted().machine
        try await machine.see(["a.jpg": "a", "b.jpg": "b", "c.jpg": "c"])
        guard case .written = try await machine.write() else {
            Issue.record("it was not written")
            return
        }
        #expect(try await bench.machine("laptop").rebuild().fromCatalog == 3)
    }

    @Test func `a ledger that was put back is not taken for one whose write was interrupted`() async throws {
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a"])
        _ = try await machine.write()
        let status = try machine.ledger.catalogStatus()
        try machine.ledger.noteCatalogWrite(
            .init(
                segment: .init(from: status.next, to: status.next, lines: 1, size: 1), sha256: "another",
                stateDigest: ""))
        let segment = CatalogSegment(machine: status.machine, from: status.next, to: status.next)
        try await bench.memory.store([1], at: segment.key(bench.keys))
        #expect(try await doubt(of: machine)?.description.contains("put back") == true)
        #expect(try machine.ledger.catalogStatus().begun == nil)
    }

    @Test func `segments that are gone are written again, in a full one`() async throws {
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a"])
        _ = try await machine.write()
        for key in try await bench.keysOfSegments() { try await bench.memory.delete(key) }
        try await machine.see(["a.jpg": "a", "b.jpg": "b"])
        _ = try await machine.write()
        #expect(try await bench.segments() == ["00000001-00000002.jsonl.gz"])
    }

    @Test func `without a catalogue what was there of this machine goes, and of others stays`() async throws {
        let (machine, other) = (try bench.machine("laptop"), try bench.machine("tower"))
        for each in [machine, other] {
            try await each.see(["a.jpg": "a"])
            _ = try await each.write()
        }
        #expect(try await bench.segments().count == 2)
        _ = try await machine.writer.remove(after: {})
        #expect(try await bench.segments().count == 1)
        _ = try await machine.writer.remove(after: {})
        // Wanted again, it is whole.
        _ = try await machine.write()
        #expect(try await bench.segments().count == 2)
    }

    @Test func `a machine that is renamed says so with its next write`() async throws {
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a"])
        _ = try await machine.write()
        let renamed = try CatalogMachine("study", in: bench, ledger: machine.ledger, folder: "/pictures/Gallery")
        _ = try await renamed.write()
        let other = try bench.machine("other")
        let summary = try await other.rebuild(inPlaceOf: "study")
        #expect(summary.machines.map(\.name) == ["study"] && summary.photos == 1)
    }

    @Test func `gzip comes back in pieces of any size, and damage is found`() throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) }
        var packed: [UInt8] = []
        let writer = try GzipWriter()
        for start in stride(from: 0, to: bytes.count, by: 70_001) {
            let end = min(start + 70_001, bytes.count)
            try writer.write(bytes[start..<end], isLast: end == bytes.count) { packed += $0 }
        }
        for size in [1, 17, 65_536, packed.count] {
            var unpacked: [UInt8] = []
            let reader = try GzipReader()
            for start in stride(from: 0, to: packed.count, by: size) {
                try Array(packed[start..<min(start + size, packed.count)]).withUnsafeBytes { piece in
                    try reader.read(piece) { unpacked += $0 }
                }
            }
            try reader.finish()
            #expect(unpacked == bytes)
        }
        var damaged = packed
        damaged[packed.count / 2] ^= 0x10
        for bad in [damaged, Array(packed.dropLast(3)), packed + [0], Array("no gzip".utf8)] {
            #expect(throws: GzipError.self) {
                let reader = try GzipReader()
                try bad.withUnsafeBytes { try reader.read($0) { _ in } }
                try reader.finish()
            }
        }
    }
}
