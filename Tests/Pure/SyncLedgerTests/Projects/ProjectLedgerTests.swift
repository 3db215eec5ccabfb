import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage
import Testing

@Suite struct ProjectLedgerTests {
    private let world: World
    private let folder = World.projects.path

    init() throws {
        world = try World([World.projects])
    }

    private func record(
        _ id: String, _ status: ProjectRecord.Status = .completed, age: Double = 0, template: String? = nil,
        request: String? = nil
    ) -> ProjectRecord {
        ProjectRecord(
            id: id, templateID: template ?? id, templateName: "T", createdAt: world.now.addingTimeInterval(-age),
            status: status, requestID: request)
    }

    @discardableResult
    private func note(_ records: [ProjectRecord]) throws -> ProjectListChanges {
        try world.ledger.noteProjects(
            records, in: folder, stamp: FileStamp(device: 1, inode: 2, size: 3, modified: 4), at: world.now)
    }

    private func file(_ name: String) -> FilePath { folder.appending(name) }

    @Test func `a list is known until the next good one, whatever is wrong with the file`() throws {
        #expect(try world.ledger.projectList(of: folder) == nil)
        #expect(try note([record("a"), record("b", .processing)]).added == 2)
        let damaged = FileStamp(device: 1, inode: 9, size: 1, modified: 5)
        #expect(try world.ledger.noteProjectListProblem("cut off", in: folder, stamp: damaged))
        #expect(try !world.ledger.noteProjectListProblem("cut off", in: folder, stamp: damaged))
        let state = try #require(try world.ledger.projectList(of: folder))
        #expect(state.problem == "cut off")
        #expect(state.readAt == world.now)
        #expect(try world.ledger.projects(in: folder).map(\.record.id) == ["a", "b"])
        let changes = try note([record("b"), record("c")])
        #expect((changes.added, changes.changed, changes.removed) == (1, 1, 1))
        #expect(try world.ledger.projectList(of: folder)?.problem == nil)
    }

    @Test func `files come due when the decision about their project changes, and not before`() throws {
        for name in ["a.jpg", "a-metadata.json", "b.jpg"] { world.write(file(name)) }
        try world.scan()
        try note([record("a", .processing), record("b", .failed)])
        for claim in try world.ledger.claim(limit: 9, at: world.now) {
            try world.ledger.commit(claim, outcome: .skipped("not now"), at: world.now)
        }
        try note([record("a", .processing), record("b", .failed)])
        #expect(try world.ledger.claim(limit: 9, at: world.now).isEmpty)
        try note([record("a"), record("b", .failed)])
        let due = try world.ledger.claim(limit: 9, at: world.now).map(\.relativePath.string)
        #expect(due.sorted() == ["a-metadata.json", "a.jpg"])
        #expect(try world.state(file("b.jpg")) == .skipped)
    }

    @Test func `a file that waits is no failure, and is due at its time`() throws {
        world.write(file("a.jpg"))
        try world.scan()
        let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        let later = world.now.addingTimeInterval(600)
        try world.ledger.commit(claim, outcome: .waits("no record", until: later), at: world.now)
        let status = try #require(try world.status(file("a.jpg")))
        #expect((status.state, status.error, status.attempts) == (.pending, "no record", 0))
        #expect(try world.ledger.claim(limit: 1, at: world.now).isEmpty)
        #expect(try world.ledger.claim(limit: 1, at: later).count == 1)
    }

    @Test func `an image that was decided about while its record came is decided about once more`() throws {
        world.write(file("a.jpg"))
        try world.scan()
        let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        try note([record("a")])
        let later = world.now.addingTimeInterval(600)
        try world.ledger.commit(claim, outcome: .waits("no record", until: later), at: world.now)
        #expect(try world.ledger.claim(limit: 1, at: world.now).count == 1)
    }

    @Test func `a project that processes for more than 24 h is given up, and told once`() throws {
        try note([record("old", .processing, age: 86_401), record("young", .processing, age: 86_399), record("done")])
        #expect(try world.ledger.giveUpProjects(in: folder, at: world.now).map(\.id) == ["old"])
        #expect(try world.ledger.giveUpProjects(in: folder, at: world.now).isEmpty)
        world.now += 2
        #expect(try world.ledger.giveUpProjects(in: folder, at: world.now).map(\.id) == ["young"])
    }

    @Test func `the request of a stored project is remembered when its record goes`() throws {
        for name in ["a.jpg", "c.jpg"] { world.write(file(name)) }
        try world.scan()
        try note([record("a", request: "r1"), record("b", request: "r2")])
        try world.storeAll()
        // b was never stored: a later project with its request is the first one.
        try note([record("c", request: "r1"), record("d", request: "r2")])
        let known = try world.ledger.projects(in: folder)
        #expect(known.map(\.duplicateOf) == ["a", nil])
    }

    @Test func `1,000 requests are remembered, the oldest go first`() throws {
        let count = Ledger.requestsRemembered + 50
        let records = (0..<count).map { number in
            record("p\(number)", age: Double(10 * (count - number)), request: "r\(number)")
        }
        try note(records)
        for record in records {
            _ = try world.ledger.beginProjectDeletion([record.id], in: folder, at: world.now)
            try world.ledger.endProjectDeletion(record.id, in: folder, at: world.now)
        }
        try note((0..<count).map { record("q\($0)", request: "r\($0)") })
        let duplicates = try world.ledger.projects(in: folder).filter { $0.duplicateOf != nil }
        #expect(duplicates.count == 1_000)
        #expect(try world.ledger.project("q49", in: folder)?.duplicateOf == nil)
        #expect(try world.ledger.project("q50", in: folder)?.duplicateOf == "p50")
    }

    @Test func `what is stored stays the original when an earlier record appears`() throws {
        world.write(file("b.jpg"))
        try world.scan()
        try note([record("b", age: 10, template: "oil")])
        try world.storeAll()
        try note([record("a", age: 13, template: "oil"), record("b", age: 10, template: "oil")])
        #expect(try world.ledger.project("a", in: folder)?.duplicateOf == "b")
        #expect(try world.ledger.project("b", in: folder)?.duplicateOf == nil)
    }

    @Test func `versions are objects like others, and go when they are forgotten`() throws {
        let keys = try (1...3).map { try ObjectKey("users/ana/projects/a/versions/2026050\($0)T101500Z-0a.jpg") }
        for key in keys {
            let object = ObjectRecord(
                key: key, size: 10, md5: nil, sha256: nil, contentType: "image/jpeg", storedAt: world.now)
            try world.ledger.noteProjectVersion(object, of: "a")
            try world.ledger.noteProjectVersion(object, of: "a")
        }
        #expect(try world.ledger.projectVersions(of: "a").map(\.key) == keys.reversed())
        #expect(try world.ledger.object(keys[0]) != nil)
        try world.ledger.forgetProjectObjects([keys[0]])
        #expect(try world.ledger.projectVersionCounts() == ["a": 2])
        #expect(try world.ledger.object(keys[0]) == nil)
        #expect(try world.ledger.check() == [])
    }

    @Test func `a file without an ending that is called like a project is none of its images`() throws {
        for ending in [".jpg", ""] {
            let object = ObjectRecord(
                key: try ObjectKey("users/ana/projects/scan/versions/20260501T101500Z-0a\(ending)"), size: 10, md5: nil,
                sha256: nil, contentType: "image/jpeg", storedAt: world.now)
            let file = try #require(VersionedFile(ofVersion: object.key))
            #expect(file.name == "scan")
            try world.ledger.noteProjectVersion(object, of: file.name)
        }
        #expect(try world.ledger.projectVersions(of: "scan").map(\.key.lastSegment) == ["20260501T101500Z-0a.jpg"])
        #expect(try world.ledger.projectVersionCounts() == ["scan": 1])
    }

    /// Watches another projects folder in place of the first one, or that one again, and scans it.
    private func watch(_ folder: WatchedFolder) throws {
        try world.register([folder])
        try world.scan()
    }

    private static let other = WatchedFolder(kind: .projects, path: "/pictures/others")

    @Test func `a file is stored no longer when that of another folder has got its key`() throws {
        let (mine, others) = (file("a.json"), Self.other.path.appending("a.json"))
        for path in [mine, others] { world.write(path) }
        try world.scan()
        try world.storeAll()
        try watch(Self.other)
        try world.storeAll()
        #expect(try world.state(others) == .uploaded)
        try watch(World.projects)
        #expect(try world.state(mine) == .pending)
        #expect(try world.storeAll().count == 1)
        #expect(try world.state(mine) == .uploaded)
        try watch(Self.other)
        #expect(try world.state(others) == .pending)
        #expect(try world.ledger.check() == [])
    }

    @Test func `the same file in another folder takes nothing from the first one`() throws {
        let (mine, others) = (file("a.jpg"), Self.other.path.appending("a.jpg"))
        world.put(world.write(mine), at: others)
        try world.scan()
        try world.storeAll()
        try watch(Self.other)
        try world.storeAll()
        try watch(World.projects)
        #expect(try world.state(mine) == .uploaded)
        #expect(try world.storeAll().isEmpty)
    }

    @Test func `a file whose object is copied to a version is stored as that version`() throws {
        let (mine, others) = (file("a.jpg"), Self.other.path.appending("a.jpg"))
        for path in [mine, others] { world.write(path) }
        try world.scan()
        try world.storeAll()
        let key = try KeyLayout(user: "ana").projectFile("a.jpg")
        var version = try #require(try world.ledger.object(key))
        version.key = try ObjectKey("users/ana/projects/a/versions/20260501T101500Z-0a.jpg")
        try watch(Self.other)
        try world.ledger.noteProjectVersion(version, of: "a", copiedFrom: key)
        try world.storeAll()
        try watch(World.projects)
        let status = try #require(try world.status(mine))
        #expect(status.state == .uploaded)
        #expect(status.key == version.key)
        #expect(try world.ledger.versions(of: status).isEmpty)
        #expect(try world.ledger.projectVersionsInUse(below: "users/ana/projects/a/versions/") == [version.key])
        // It is the image, and no earlier one.
        #expect(try world.ledger.projectVersions(of: "a").isEmpty && world.ledger.projectVersionCounts().isEmpty)
        #expect(try world.ledger.check() == [])
    }

    @Test func `a version that is another machine's file is an earlier image here`() throws {
        let version = ObjectRecord(
            key: try ObjectKey("users/ana/projects/a/versions/20260501T101500Z-0a.jpg"), size: 10,
            md5: MD5Digest(hex: "0123456789abcdef0123456789abcdef"), sha256: nil, contentType: "image/jpeg",
            storedAt: world.now)
        try world.ledger.noteProjectVersion(version, of: "a")
        let place = try world.ledger.folderForCatalog(.projects, at: "/machines/b/projects", of: .machine("b"))
        let photo = CatalogPhoto(
            place: CatalogPlace(folder: 0, path: "a.jpg"), file: nil, md5: version.md5, key: version.key, sha256: nil,
            size: 10, contentType: "image/jpeg")
        try world.ledger.noteCatalog([photo], in: [0: place], at: world.now)
        #expect(try world.ledger.projectVersions(of: "a").map(\.key) == [version.key])
        #expect(try world.ledger.projectVersionCounts() == ["a": 1])
    }

    @Test func `what a catalogue alone tells of is in use, too`() throws {
        let version = try ObjectKey("users/ana/projects/a/versions/20260501T101500Z-0a.jpg")
        let place = try world.ledger.folderForCatalog(.projects, at: folder, of: .thisMachine)
        let photo = CatalogPhoto(
            place: CatalogPlace(folder: 0, path: "a.jpg"), file: nil, md5: nil, key: version, sha256: nil, size: 10,
            contentType: "image/jpeg")
        try world.ledger.noteCatalog([photo], in: [0: place], at: world.now)
        #expect(try world.ledger.projectVersions(of: "a").isEmpty)
        #expect(try world.ledger.projectVersionsInUse(below: "users/ana/projects/a/versions/") == [version])
        #expect(try world.ledger.projectVersionsInUse(below: "users/ana/projects/b/versions/") == [])
    }

    @Test func `a renamed image has no earlier version under a key that a new one has got`() throws {
        world.write(file("a.jpg"))
        try world.scan()
        try world.storeAll()
        world.rename(file("a.jpg"), to: file("c.jpg"))
        try world.scan()
        try world.storeAll()
        let before = try #require(try world.status(file("c.jpg")))
        #expect(try world.ledger.versions(of: before).count == 1)
        world.write(file("a.jpg"))
        try world.scan()
        try world.storeAll()
        let status = try #require(try world.status(file("c.jpg")))
        #expect(status.state == .uploaded)
        #expect(try world.ledger.versions(of: status).isEmpty)
    }

    @Test func `a record that comes while its file is in hand is not overlooked`() throws {
        world.write(file("a.jpg"))
        try world.scan()
        try note([])
        let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        try note([record("a")])
        try world.ledger.commit(claim, outcome: .skipped(ProjectVerdict.noRecord), at: world.now)
        #expect(try world.state(file("a.jpg")) == .pending)
        let again = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        try note([])
        try world.ledger.commit(again, outcome: .skipped(ProjectVerdict.noRecord), at: world.now)
        let last = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        try world.ledger.commit(last, outcome: .skipped(ProjectVerdict.noRecord), at: world.now)
        #expect(try world.state(file("a.jpg")) == .skipped)
        #expect(try !world.ledger.isAnythingUnsynced())
    }

    @Test(arguments: [true, false])
    func `a duplicate is due when its original turns out to be broken, whichever is noted first`(
        isBrokenFirst: Bool
    ) throws {
        for name in ["a.jpg", "b.jpg"] { world.write(file(name)) }
        try world.scan()
        try note([record("a", request: "r"), record("b", request: "r")])
        let claims = try world.ledger.claim(limit: 2, at: world.now)
        let a = try #require(claims.first { $0.relativePath == "a.jpg" })
        let b = try #require(claims.first { $0.relativePath == "b.jpg" })
        let verdict = try #require(try world.ledger.project("b", in: folder)?.verdict(at: world.now))
        let reason = try #require(verdict.reason)
        #expect(verdict == .duplicate(of: "a"))
        let note = { try world.ledger.commit(a, outcome: .failed("it ends early", nil), at: world.now) }
        if isBrokenFirst { try note() }
        try world.ledger.commit(b, outcome: .skipped(reason, .duplicate), at: world.now)
        if !isBrokenFirst { try note() }
        #expect(try world.state(file("b.jpg")) == .pending)
        #expect(try world.ledger.claim(limit: 2, at: world.now).map(\.relativePath) == ["b.jpg"])
    }

    @Test func `a deletion that began is known, but not of a project that is being stored`() throws {
        for name in ["a.jpg", "b.jpg"] {
            world.write(file(name))
            try world.scan()
        }
        try note([record("a"), record("b")])
        let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        #expect(claim.relativePath == "a.jpg")
        #expect(try world.ledger.beginProjectDeletion(["a", "b"], in: folder, at: world.now) == ["a"])
        #expect(try world.ledger.project("a", in: folder)?.isDeleting == false)
        #expect(try world.ledger.project("b", in: folder)?.verdict(at: world.now) == .deleting)
        #expect(try world.ledger.projectsBeingDeleted(in: folder) == ["b"])
        try world.ledger.endProjectDeletion("b", in: folder, at: world.now)
        try world.ledger.forgetProjectFiles(["b.jpg"], in: folder)
        #expect(try world.ledger.project("b", in: folder) == nil)
        #expect(try world.state(file("b.jpg")) == nil)
    }

    @Test func `an object that was deleted takes its upload back`() throws {
        for name in ["a.jpg", "gone.jpg"] { world.write(file(name)) }
        try world.scan()
        try world.storeAll()
        world.remove(file("gone.jpg"))
        try world.scan()
        let layout = try KeyLayout(user: "ana")
        try world.ledger.forgetProjectObjects([try layout.projectFile("a.jpg"), try layout.projectFile("gone.jpg")])
        #expect(try world.state(file("a.jpg")) == .pending)
        #expect(try world.state(file("gone.jpg")) == nil)
        #expect(try world.ledger.check() == [])
    }
}
