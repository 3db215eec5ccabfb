import SyncCore
import Testing

@Suite struct ObjectKeyTests {
    @Test(
        arguments: [
            "", "/a", "a/", "a//b", ".", "..", "a/./b", "a/../b", "a/..", "./a", "/", "a\u{0}b", "a\nb",
            "a\u{7F}", "a\\b", String(repeating: "k", count: 1_025),
        ])
    func `a key that a store or a file system would change is refused`(name: String) {
        #expect(throws: InvalidName.self) { try ObjectKey(name) }
    }

    @Test(arguments: [("a//b", "an empty name"), ("a/", "an empty name"), ("a/../b", ".."), ("a/b\u{7}", "control")])
    func `what is wrong with a key is said`(name: String, reason: String) {
        let error = #expect(throws: InvalidName.self) { try ObjectKey(name) }
        #expect(error?.name == name)
        #expect(error?.reason.contains(reason) == true)
    }

    @Test(
        arguments: [
            "a", "a b/c+d%.jpg", "…/Zürich~", "a/...", "x/.hidden", "a./b../.c/-", "é/\u{301}",
            String(repeating: "k", count: 1_024),
        ])
    func `a key is kept as it is`(name: String) throws {
        #expect(try ObjectKey(name).rawValue == name)
    }

    /// Eight bytes are looked at at once: neither the place of one nor those around it make a difference.
    @Test func `a character is refused or kept wherever it stands, and whatever is around it`() {
        for byte in UInt8(0)...0x7F {
            let isKept = byte >= 0x20 && byte != 0x7F && byte != UInt8(ascii: "\\")
            for other in ["a", "0", "]", "~", "\u{E9}"] {
                for place in 1...20 {
                    let name =
                        String(repeating: other, count: place) + String(UnicodeScalar(byte))
                        + String(repeating: other, count: 21 - place)
                    let key = try? ObjectKey(name)
                    #expect(key?.rawValue == (isKept ? name : nil), "\(byte) behind \(place) times \(other)")
                }
            }
        }
    }

    @Test(arguments: 1...20)
    func `a name that is refused is found wherever it begins`(place: Int) {
        let name = String(repeating: "k", count: place)
        #expect(throws: InvalidName.self) { try ObjectKey("\(name)//\(name)") }
        #expect(throws: InvalidName.self) { try ObjectKey("\(name)/./\(name)") }
        #expect(throws: InvalidName.self) { try ObjectKey("\(name)/..") }
        #expect(throws: InvalidName.self) { try ObjectKey("\(name)/") }
        #expect(throws: Never.self) { try ObjectKey("\(name)/.../.\(name)") }
    }

    @Test(arguments: ["ana/..", "..", "a/b", ""])
    func `a segment from outside cannot climb`(user: String) {
        #expect(throws: InvalidName.self) { try KeyLayout(user: user) }
    }

    /// To a `String`, a `/` and a mark that combines with it are one character.
    @Test func `a name that begins with a combining mark is a segment like others`() throws {
        let key = try ObjectKey("users/\u{301}ana/photos/\u{301}a.jpg")
        #expect(key.segments == ["users", "\u{301}ana", "photos", "\u{301}a.jpg"])
        #expect(key.lastSegment == "\u{301}a.jpg")
        #expect(key.isBelow("users/") && key.name(below: "users/\u{301}ana/photos/") == "\u{301}a.jpg")
        #expect(key.original?.rawValue == "users/\u{301}ana/originals/\u{301}a.jpg")
        #expect(key.folder == "users/\u{301}ana/photos/")
        #expect(throws: InvalidName.self) { try ObjectKey(segments: ["users", "ana/\u{301}b"]) }
    }

    /// To a `String`, they begin the same, and an end that a mark is joined with is none.
    @Test func `beginnings and ends of keys are those of their bytes`() throws {
        let key = try ObjectKey("users/jose\u{301}/machines/\u{301}m\u{600}.json")
        #expect(key.name(between: "users/jose\u{301}/machines/", ".json") == "\u{301}m\u{600}")
        #expect(!key.isBelow("users/jos\u{E9}/machines/"))
        #expect(key.name(between: "users/jos\u{E9}/machines/", ".json") == nil)
        #expect(try ObjectKey("users/ana/.json").name(between: "users/ana/", ".json") == nil)
    }

    @Test func `what machines of a user tell is that of no other whose name looks the same`() throws {
        let (own, other) = (try KeyLayout(user: "jose\u{301}"), try KeyLayout(user: "jos\u{E9}"))
        let segment = CatalogSegment(machine: "m", from: 1, to: 2)
        #expect(CatalogSegment(try segment.key(own), own) == segment)
        #expect(CatalogSegment(try segment.key(own), other) == nil)
        #expect(own.machineID(of: try own.machine("\u{301}m")) == "\u{301}m")
        #expect(other.machineID(of: try own.machine("m")) == nil)
        let day = try #require(CalendarDay("2026-11-30"))
        #expect(own.day(ofJobClaim: try own.jobClaim(day)) == day)
        #expect(other.day(ofJobClaim: try own.jobClaim(day)) == nil)
        let id = try #require(ShareID("0f3a9c21-6c0e-4c57-9c55-1b1a0c9b5b2d"))
        #expect(own.shareID(ofEnd: try own.shareEnd(id)) == id)
        #expect(other.shareID(ofEnd: try own.shareEnd(id)) == nil)
        #expect(own.shareOwner(of: try own.shareOwner(id, 3))?.number == 3)
        #expect(other.shareOwner(of: try own.shareOwner(id, 3))?.number == nil)
    }

    @Test func `keys are ordered by bytes and not by language`() throws {
        let keys = try ["b", "a/b", "a", "Z", "ä", "a.b"].map { try ObjectKey($0) }.sorted()
        #expect(keys.map(\.rawValue) == ["Z", "a", "a.b", "a/b", "b", "ä"])
    }

    @Test func `the message names the key and shows control characters`() throws {
        let error = try #require(throws: InvalidName.self) { try ObjectKey("a\u{1B}[31m") }
        #expect("\(error)".contains("a\\u{1b}[31m"))
    }

    @Test func `each kind of object has its place`() throws {
        let layout = try KeyLayout(user: "ana")
        let id = PhotoID(try #require(MD5Digest(hex: "d41d8cd98f00b204e9800998ecf8427e")))
        #expect(try layout.photo(id).rawValue == "users/ana/photos/d41d8cd98f00b204e9800998ecf8427e.dat")
        #expect(try layout.projectFile("projects.json").rawValue == "users/ana/projects/projects.json")
        #expect(throws: InvalidName.self) { try layout.projectFile("../../x") }
    }
}
