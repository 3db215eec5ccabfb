import FoundationEssentials
import SyncCore
import SyncLedger
import Testing

/// What a listing says otherwise than the ledger.
@Suite struct ListingComparisonTests {
    private static let now = Date(timeIntervalSince1970: 1_000_000)
    /// Finer than the ledger keeps it.
    private static let until = Date(timeIntervalSince1970: 1_000_500.123_4)
    private static let sha256 = SHA256Digest(bytes: [UInt8](repeating: 7, count: SHA256Digest.length))
    private static let other = SHA256Digest(bytes: [UInt8](repeating: 7, count: SHA256Digest.length - 1) + [8])

    private let ledger: Ledger

    init() throws {
        ledger = try Ledger.inMemory()
    }

    @discardableResult
    private func store(
        _ name: String = "a/1", restore: RestoreState = .none, etag: String? = "tag",
        sha256: SHA256Digest? = ListingComparisonTests.sha256
    ) throws -> ObjectRecord {
        let record = ObjectRecord(
            key: try ObjectKey(name), size: 3, md5: nil, sha256: sha256, contentType: "image/jpeg",
            storageClass: .deepArchive, restore: restore, storedAt: Self.now - 1, etag: etag)
        try ledger.noteStoredAgain(record)
        return try #require(try ledger.object(record.key))
    }

    private func listed(
        _ name: String = "a/1", size: Int64 = 3, in storageClass: StorageClass = .deepArchive,
        restore: RestoreState = .none, etag: String? = "tag", sha256: SHA256Digest? = nil
    ) throws -> ObjectInfo {
        ObjectInfo(
            key: try ObjectKey(name), size: size, sha256: sha256, etag: etag, storageClass: storageClass,
            restore: restore)
    }

    private func compare(
        _ listing: [ObjectInfo], after last: ObjectKey? = nil, through end: ObjectKey? = nil, limit: Int = .max
    ) throws -> ListingComparison {
        try ledger.compare(listing, below: "a/", after: last, through: end, at: Self.now, limit: limit)
    }

    @Test(
        arguments: [
            (4, .deepArchive, .none, "tag"), (2, .deepArchive, .none, "tag"), (3, .glacier, .none, "tag"),
            (3, .standard, .none, "tag"), (3, .deepArchive, .inProgress, "tag"),
            (3, .deepArchive, .restored(until: nil), "tag"), (3, .deepArchive, .restored(until: until), "tag"),
            (3, .deepArchive, .none, "tah"), (3, .deepArchive, .none, "ta"), (3, .deepArchive, .none, "tags"),
            (3, .deepArchive, .none, nil),
        ] as [(Int64, StorageClass, RestoreState, String?)])
    func `what is listed otherwise in one thing is told, with all that is known of it`(
        size: Int64, storageClass: StorageClass, restore: RestoreState, etag: String?
    ) throws {
        let known = try store()
        let listing = [try listed(size: size, in: storageClass, restore: restore, etag: etag)]
        let result = try compare(listing)
        #expect(result.differences.map { $0.known } == [known])
        #expect(result.differences.compactMap { $0.listed } == listing)
        #expect(result.known == 1 && result.last == nil)
        #expect(try compare([listed()]).differences.isEmpty, "as it is known, it is no news")
    }

    @Test(arguments: [
        "5d41402abc4b2a76b9719d911017c592", "5d41402abc4b2a76b9719d911017c592-10000", String(repeating: "t", count: 39),
        String(repeating: "t", count: 40), "t\u{FC}r",
    ])
    func `an ETag is the same or another one, however long it is and whatever is in it`(etag: String) throws {
        try store(etag: etag)
        #expect(try compare([listed(etag: etag)]).differences.isEmpty)
        for other in [etag + "t", String(etag.dropLast()), "u\(etag.dropFirst())"] {
            #expect(try compare([listed(etag: other)]).differences.count == 1, "\(other)")
        }
    }

    @Test(
        arguments: [
            (.none, .none, true), (.inProgress, .inProgress, true), (.inProgress, .none, false),
            (.restored(until: until), .restored(until: until), true),
            (.restored(until: until), .restored(until: until + 0.001), false),
            (.restored(until: until), .restored(until: nil), false), (.restored(until: until), .none, false),
            // The copy's time is over, though the store tells of it still.
            (.restored(until: now), .restored(until: now), false), (.none, .restored(until: now), true),
        ] as [(RestoreState, RestoreState, Bool)])
    func `a restore is the same to the millisecond, for as long as it can be read`(
        known: RestoreState, told: RestoreState, isSame: Bool
    ) throws {
        try store(restore: known)
        let result = try compare([listed(restore: told)])
        #expect(result.differences.isEmpty == isSame && result.known == 1)
    }

    @Test(
        arguments: [
            (nil, sha256, nil, sha256, true), (nil, sha256, nil, other, false), (nil, sha256, nil, nil, false),
            (nil, nil, nil, sha256, false), (nil, nil, nil, nil, false),
            // An ETag that is not known yet is learned.
            (nil, sha256, "tag", sha256, false),
            ("tag", sha256, nil, sha256, false), ("tag", sha256, "tag", other, true),
        ] as [(String?, SHA256Digest?, String?, SHA256Digest?, Bool)])
    func `the SHA-256 stands for the ETag where there is none`(
        knownTag: String?, known: SHA256Digest?, toldTag: String?, told: SHA256Digest?, isSame: Bool
    ) throws {
        try store(etag: knownTag, sha256: known)
        #expect(try compare([listed(etag: toldTag, sha256: told)]).differences.isEmpty == isSame)
    }

    @Test func `a page that tells some ETags is compared by them, and by digests where it tells none`() throws {
        try store("a/1")
        try store("a/2", etag: nil)
        try store("a/3", etag: nil, sha256: Self.other)
        try store("a/4", etag: nil)
        try store("a/5")
        let listing = try [
            listed("a/1"), listed("a/2", etag: nil, sha256: Self.sha256), listed("a/3", etag: nil, sha256: Self.sha256),
            listed("a/4"), listed("a/5", etag: nil, sha256: Self.sha256),
        ]
        let result = try compare(listing)
        #expect(result.differences.map { $0.known.key.rawValue } == ["a/3", "a/4", "a/5"])
        #expect(result.differences.compactMap { $0.listed } == Array(listing.dropFirst(2)))
        #expect(result.known == 5)
    }

    @Test(arguments: [ObjectFault.missing, .damaged("it has 1 bytes, and 3 were stored")])
    func `what is known to be broken is told, though it is listed as it was stored`(problem: ObjectFault) throws {
        try ledger.markBroken([BrokenObject(store(), problem)], at: Self.now)
        let result = try compare([listed()])
        #expect(result.differences.map { $0.known.problem } == [problem] && result.known == 1)
    }

    @Test(arguments: [Int.max, 3, 2, 1])
    func `ledger and listing are compared both ways, part after part`(limit: Int) throws {
        for name in ["a", "a/1", "a/2", "a/2/x", "a/é", "a/𝄞", "a0", "b/1"] { try store(name) }
        let listing = try [
            listed("a/0"), listed("a/1"), listed("a/10"), listed("a/2", size: 4), listed("a/é", in: .glacier),
            listed("a/ﬁ"), listed("a/𝄞"), listed("a/𝄞𝄞"),
        ]
        var differences: [(known: ObjectRecord, listed: ObjectInfo?)] = []
        var known = 0
        var last: ObjectKey?
        repeat {
            let part = try compare(listing, after: last, limit: limit)
            #expect(part.differences.count <= limit)
            differences += part.differences
            known += part.known
            last = part.last
        } while last != nil
        #expect(differences.map { $0.known.key.rawValue } == ["a/2", "a/2/x", "a/é"])
        #expect(differences.map { $0.listed } == [listing[3], nil, listing[4]])
        #expect(known == 4)
    }

    @Test func `only what is in the range is compared, and of two of one name the first counts`() throws {
        for name in ["a/1", "a/2", "a/3"] { try store(name) }
        let listing = try [listed("a/1", size: 4), listed("a/2"), listed("a/2", size: 4)]
        let result = try compare(listing, after: ObjectKey("a/1"), through: ObjectKey("a/2"))
        #expect(result.differences.isEmpty && result.known == 1)
        #expect(try compare(listing).differences.map { $0.known.key.rawValue } == ["a/1", "a/3"])
    }
}
