import FoundationEssentials
import Glibc
import SyncCore
import SyncLocalStore
import SyncTestSupport
import SystemPackage
import Testing

@Suite
struct LocalStoreTests {
    private let tree: TemporaryTree
    private let time = ManualTime()
    private let store: LocalStore

    init() throws {
        tree = try TemporaryTree()
        store = LocalStore(root: tree.path("store"), now: time.source.now, restoreDuration: .seconds(5))
    }

    private func put(_ text: String, _ key: String, _ storageClass: StorageClass = .standard) async throws {
        _ = try await store.put(
            ObjectBody(text), at: ObjectKey(key),
            attributes: ObjectAttributes(contentType: "text/plain", storageClass: storageClass), condition: .overwrite)
    }

    private func text(_ key: String) async throws -> String {
        String(decoding: try await store.bytes(of: ObjectKey(key)), as: UTF8.self)
    }

    private func mode(_ relative: String) -> mode_t {
        var status = stat()
        return stat(tree.path(relative).string, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    // MARK: - Layout

    @Test func `an object is a file under its key, readable by its owner only`() async throws {
        try await put("a photo", "users/ana/photos/d41d.dat")
        try await put("odd", "users/100%/~x/Zürich 1.jpg")
        #expect(
            try tree.files(below: "store/objects") == ["users/100%25/%7Ex/Zürich 1.jpg", "users/ana/photos/d41d.dat"])
        #expect(try tree.read("store/objects/users/ana/photos/d41d.dat") == Array("a photo".utf8))
        #expect(mode("store") == 0o700)
        #expect(mode("store/objects/users") == 0o700)
        #expect(mode("store/objects/users/ana/photos/d41d.dat") == 0o600)
        #expect(try tree.files(below: "store/staging") == [])
    }

    /// To a `String`, a `/` and a mark that combines with it are one character.
    @Test func `names that begin with a combining mark are those of a folder and of its file`() async throws {
        let key = "users/ana/projects/\u{301}folder/\u{FE0F}a.jpg"
        for text in ["one", "another"] {
            try await put(text, key)
            #expect(try tree.files(below: "store/objects") == [key])
        }
    }

    @Test func `a replaced object leaves one file, under its key, as its readers outside know it`() async throws {
        for round in 1...4 {
            try await put("round \(round)", "users/ana/projects/projects.json")
            #expect(try tree.files(below: "store/objects") == ["users/ana/projects/projects.json"])
            #expect(try tree.read("store/objects/users/ana/projects/projects.json") == Array("round \(round)".utf8))
            #expect(try tree.files(below: "store/staging") == [])
        }
        #expect(try await text("users/ana/projects/projects.json") == "round 4")
    }

    @Test(arguments: ["another length", "as long"])
    func `a file that no record names is never written over`(theirs: String) async throws {
        try await put("before", "kept/other")
        try tree.write(theirs, to: "store/objects/kept/photo.dat")
        try await put("as_long", "kept/photo.dat")
        #expect(try tree.read("store/objects/kept/photo.dat") == Array(theirs.utf8))
        #expect(try await text("kept/photo.dat") == "as_long")
    }

    @Test func `a file whose record was lost is taken again when the same bytes come`() async throws {
        try await put("a photo", "kept/photo.dat")
        try FileManager.default.removeItem(atPath: tree.path("store/records/kept/photo.dat~.json").string)
        try await put("a photo", "kept/photo.dat")
        #expect(try tree.files(below: "store/objects") == ["kept/photo.dat"])
        #expect(try await text("kept/photo.dat") == "a photo")
    }

    @Test(arguments: [1, 127, 128, 254, 255, 256, 500])
    func `a name as long as file systems take it is that of the file, and a longer one is cut`(length: Int)
        async throws
    {
        let name = String(repeating: "x", count: length)
        for text in ["before", "after"] { try await put(text, "\(name)/\(name)") }
        let files = try tree.files(below: "store/objects")
        #expect(files.count == 1 && (files == ["\(name)/\(name)"]) == (length <= 255))
        #expect(try await text("\(name)/\(name)") == "after")
        #expect(try await store.keys() == ["\(name)/\(name)"])
    }

    @Test func `a name that is too long is cut as every version cuts it, between characters`() async throws {
        // Of the file's name two bytes make a character; the folder's ends with its SHA-256.
        let (folder, file) = (String(repeating: "a", count: 300), "x" + String(repeating: "ü", count: 147) + ".jpg")
        try await put("long", "\(folder)/\(file)")
        let path = try #require(try tree.files(below: "store/objects").first)
        let names = path.split(separator: "/").map(String.init)
        try #require(names.count == 2)
        #expect(names[0] == String(repeating: "a", count: 200) + "~9835fa6bf4e20a9b")
        let parts = names[1].split(separator: "~").map(String.init)
        try #require(parts.count == 2)
        #expect(parts[0] == "x" + String(repeating: "ü", count: 99))
        #expect(parts[1].count == 12 && parts[1].hasSuffix(".jpg"))
        #expect(try await text("\(folder)/\(file)") == "long")
    }

    @Test(arguments: [("photo.dat", "bd"), ("users/ana/photos/photo.dat", "47"), ("photos/5.jpg", "08")])
    func `a key has the lock that every version takes for it`(key: String, name: String) async throws {
        try await put("x", key)
        #expect(try tree.files(below: "store/locks") == [name, "marker"].sorted())
    }

    @Test func `a deleted object leaves no empty folders`() async throws {
        try await put("x", "shares/abc/vacation.json")
        try await put("y", "kept")
        try await store.delete(ObjectKey("shares/abc/vacation.json"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: tree.path("store/objects").string) == ["kept"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: tree.path("store/records").string) == ["kept~.json"])
    }

    @Test(
        arguments: ["../", "a/../../", "/", "//", "./", "a/./b"])
    func `a refused key of a listing's prefix leads nowhere`(prefix: String) async throws {
        try await put("x", "a/b")
        #expect(try await store.keys(prefix: prefix) == [])
    }

    // MARK: - Damage

    @Test func `a damaged byte never comes back as an object`() async throws {
        let key = try ObjectKey("photo.dat")
        var bytes = [UInt8].noise(1 << 20)
        try await store.store(bytes, at: key)
        bytes[700_000] ^= 1
        try tree.write(bytes, to: "store/objects/photo.dat")
        for range in [nil, 0..<(1 << 20), 0..<Int64.max] as [Range<Int64>?] {
            let error = await #expect(throws: StoreError.self) { _ = try await store.bytes(of: key, range: range) }
            #expect(error?.code == .badDigest)
        }
    }

    @Test func `a file that is cut or goes on is damage, in ranges too, and one that is gone is no object`()
        async throws
    {
        let key = try ObjectKey("photo.dat")
        let bytes = [UInt8].noise(10_000)
        try await store.store(bytes, at: key)
        for other in [Array(bytes.dropLast()), bytes + [0]] {
            try tree.write(other, to: "store/objects/photo.dat")
            for range in [nil, 0..<10] as [Range<Int64>?] {
                let error = await #expect(throws: StoreError.self) { _ = try await store.bytes(of: key, range: range) }
                #expect(error?.code == .badDigest)
            }
        }
        try FileManager.default.removeItem(atPath: tree.path("store/objects/photo.dat").string)
        let error = await #expect(throws: StoreError.self) { _ = try await store.bytes(of: key) }
        #expect(error?.code == .notFound)
        #expect(error?.key == "photo.dat")
    }

    @Test(
        arguments: ["", "{", "{\"key\":\"photo.dat\"}", #"{"key":"other"}"#])
    func `a damaged record is told, never passed over`(json: String) async throws {
        let key = try ObjectKey("photo.dat")
        try await put("x", "photo.dat")
        try tree.write(json, to: "store/records/photo.dat~.json")
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await store.head(key) }, { _ = try await store.bytes(of: key) },
            { try await store.copy(key, to: key, storageClass: .deepArchive, condition: .overwrite) },
        ]
        for call in calls {
            let error = await #expect(throws: StoreError.self) { try await call() }
            #expect(error?.code == .badDigest)
        }
        let page = try await store.list(prefix: "", after: nil, limit: 10)
        #expect(page.objects == [])
        #expect(page.problems.map(\.key) == [key])
        // Nobody could read the object any more: a put replaces it.
        try await put("y", "photo.dat")
        #expect(try await text("photo.dat") == "y")
    }

    @Test(
        arguments: ["../../secret", "/etc/passwd", "a/../../b", ""])
    func `a record that points out of the store is damage`(file: String) async throws {
        try await put("x", "photo.dat")
        try tree.write("secret", to: "secret")
        try edit("photo.dat") { $0.replacing(#""file" : "photo.dat""#, with: #""file" : "\#(file)""#) }
        let error = await #expect(throws: StoreError.self) { _ = try await text("photo.dat") }
        #expect(error?.code == .badDigest)
    }

    @Test(arguments: [
        (#""size" : 1"#, #""size" : "1""#), (#""size" : 1"#, #""size" : 1.5"#), (#""size" : 1"#, #""size" : -1"#),
        (#""size" : 1"#, #""size" : 9223372036854775807"#),
        (#""metadata" : {"#, #""metadata" : {"a" : 1}, "other" : {"#),
        (#""metadata" : {"#, #""metadata" : [], "other" : {"#),
        (#""contentModified" : "#, #""contentModified" : "0", "other" : "#),
        (#""modified" : "20"#, #""modified" : "yesterday", "other" : "20"#),
        (#""size" : 1"#, #""restore" : {"tier" : "Bulk"}, "size" : 1"#),
        (#""size" : 1"#, #""restore" : {"readyAt" : "2026-01-01T01:00:00Z", "expiresAt" : 1}, "size" : 1"#),
        (#""storageClass" : "#, #""other" : "#), ("\n}", "\n}}"), ("{\n  \"cont", "[{\n  \"cont"),
    ])
    func `a record with a value of another kind is damage`(part: String, other: String) async throws {
        try await put("x", "photo.dat")
        try edit("photo.dat") { $0.replacing(part, with: other) }
        let error = await #expect(throws: StoreError.self) { _ = try await store.head(ObjectKey("photo.dat")) }
        #expect(error?.code == .badDigest)
    }

    @Test(arguments: [
        (#""size" : 1"#, #""size" : 1.0"#), (#""size" : 1"#, #""restore" : null, "size" : 1"#),
        (#""size" : 1"#, #""of a later version" : [{}], "size" : 1"#),
        ("{\n", "\n { "), (#""photo.dat""#, #""photo\u002edat""#),
    ])
    func `a record that says the same in other words is read`(part: String, other: String) async throws {
        try await put("x", "photo.dat")
        try edit("photo.dat") { $0.replacing(part, with: other) }
        #expect(try await text("photo.dat") == "x")
    }

    private func edit(_ key: String, _ change: (String) -> String) throws {
        let path = "store/records/\(key)~.json"
        let before = String(decoding: try tree.read(path), as: UTF8.self)
        let after = change(before)
        try #require(after != before)
        try tree.write(after, to: path)
    }

    // MARK: - Archived objects

    @Test func `an archived object is readable from when its restore is ready until it expires`() async throws {
        try await put("cold", "a", .deepArchive)
        // Five seconds from now, which is how long this store takes, until three hours from now.
        let restore = #""restore":{"readyAt":"2026-01-01T00:00:05Z","expiresAt":"2026-01-01T03:00:00Z"},"size""#
        try edit("a") { $0.replacing(#""size""#, with: restore) }
        let end = Date(timeIntervalSince1970: 1_767_225_600 + 3 * 3_600)

        #expect(try await store.head(ObjectKey("a"))?.restore == .inProgress)
        await #expect(throws: StoreError.self) { _ = try await text("a") }
        await time.advance(by: .seconds(5))
        #expect(try await store.head(ObjectKey("a"))?.restore == .restored(until: end))
        #expect(try await text("a") == "cold")
        #expect(try await store.list(prefix: "", after: nil, limit: 1).objects.first?.restore == .restored(until: end))
        await time.advance(by: .seconds(3 * 3_600 - 5))
        #expect(try await store.head(ObjectKey("a"))?.restore == RestoreState.none)
        let error = await #expect(throws: StoreError.self) { _ = try await text("a") }
        #expect(error?.code == .archived)
    }

    // MARK: - The folder

    @Test func `the store makes its folder, but not the one above: a disk may not be mounted`() async throws {
        try await store.check()
        #expect(mode("store") == 0o700)
        let unmounted = LocalStore(root: tree.path("disk/store"), now: time.source.now, restoreDuration: .seconds(5))
        let error = await #expect(throws: StoreError.self) { try await unmounted.check() }
        #expect(error?.code == .storeMissing)
        #expect(error?.message.contains("disk does not exist") == true)
    }

    @Test func `a store that is known to hold objects is not made anew`() async throws {
        let known = LocalStore(
            root: tree.path("known"), now: time.source.now, restoreDuration: .seconds(5), access: .writes)
        let error = await #expect(throws: StoreError.self) { try await known.check() }
        #expect(error?.code == .storeMissing)
        #expect(try tree.files() == [])
    }

    @Test func `when the disk goes, nothing counts as absent`() async throws {
        try await put("x", "a")
        try FileManager.default.moveItem(atPath: tree.path("store").string, toPath: tree.path("away").string)
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await store.head(ObjectKey("a")) }, { _ = try await text("a") }, { _ = try await store.keys() },
            { try await put("y", "a") }, { try await store.delete(ObjectKey("a")) }, { try await store.check() },
        ]
        for call in calls {
            let error = await #expect(throws: StoreError.self) { try await call() }
            #expect(error?.code == .storeMissing)
        }
        #expect(try tree.files(below: "away/objects") == ["a"])
    }

    @Test func `a store of a newer format is left alone`() async throws {
        try tree.write(#"{"format":2,"about":"?"}"#, to: "store/sync-agent-store.json")
        let error = await #expect(throws: StoreError.self) { try await store.check() }
        #expect(error?.code == .unsupported)
        #expect(try tree.files() == ["store/sync-agent-store.json"])
    }
}
