import FoundationEssentials
import SyncCore
import Testing

@Suite struct ShareNoteTests {
    private static let text = "0b5c2d1e-7c1e-4b3f-9a55-3f1f0a3c9d10"
    private let id: ShareID
    private let keys: KeyLayout

    init() throws {
        id = try #require(ShareID(Self.text))
        keys = try KeyLayout(user: "ana")
    }

    private func ended(_ name: String = "laptop") -> EndedShare {
        EndedShare(
            id, endedAt: Date(timeIntervalSince1970: 1_767_225_600),
            expiresAt: Date(timeIntervalSince1970: 1_769_817_600),
            machine: "2367ca4b3fa4b437", name: name)
    }

    @Test func `what is written is read again, and a person can read it`() throws {
        let bytes = try ended().encoded()
        #expect(try EndedShare(parsing: bytes, of: id) == ended())
        let text = String(decoding: bytes, as: UTF8.self)
        for part in [#""endedAt" : "2026-01-01T00:00:00Z""#, #""version" : 1"#, #""shareId" : "\#(Self.text)""#] {
            #expect(text.contains(part), "\(text)")
        }
    }

    @Test func `a name that is too long is cut`() throws {
        let bytes = try ended(String(repeating: "a", count: 1_000)).encoded()
        #expect(try EndedShare(parsing: bytes, of: id).name.count == 200)
    }

    @Test(arguments: [
        ("nothing", "does not tell the end"), ("{}", "does not tell the end"),
        (
            #"{"endedAt":"2026-01-01T00:00:00Z","expiresAt":"2026-01-01T00:00:00Z","machine":"a","name":"b","version":1,"#
                + #""shareId":"00000000-7c1e-4b3f-9a55-3f1f0a3c9d10"}"#, "another share"
        ),
        (
            #"{"endedAt":"2026-01-01T00:00:00Z","expiresAt":"2026-01-01T00:00:00Z","machine":"a","name":"b","version":2,"#
                + #""shareId":"\#(ShareNoteTests.text)"}"#, "newer version"
        ),
    ])
    func `what tells no end, that of another share, and what a later version wrote is refused`(
        text: String, reason: String
    ) throws {
        let damage = #expect(throws: ShareNoteDamage.self) { try EndedShare(parsing: Array(text.utf8), of: id) }
        #expect(damage?.description.contains(reason) == true)
    }

    @Test func `its key tells the share, and no other key does`() throws {
        let key = try keys.shareEnd(id)
        #expect(key.rawValue == "users/ana/shares/\(Self.text).ended.json")
        #expect(keys.shareID(ofEnd: key) == id)
        for other in [
            "users/bob/shares/\(Self.text).ended.json", "users/ana/shares/\(Self.text).json",
            "users/ana/shares/x/\(Self.text).ended.json", "shares/\(Self.text)/vacation.json",
        ] {
            #expect(keys.shareID(ofEnd: try ObjectKey(other)) == nil, "\(other)")
        }
    }

    @Test func `who has a share is told by number, and no other key does`() throws {
        let note = ShareOwner(
            id, takenOverAt: Date(timeIntervalSince1970: 1_767_225_600),
            expiresAt: Date(timeIntervalSince1970: 1_769_817_600), machine: "2367ca4b3fa4b437", name: "tower")
        #expect(try ShareOwner(parsing: try note.encoded(), of: id) == note)
        #expect(throws: ShareNoteDamage.self) { try ShareOwner(parsing: try ended().encoded(), of: id) }
        let key = try keys.shareOwner(id, 12)
        #expect(key.rawValue == "users/ana/shares/\(Self.text).owner-12.json")
        let told = try #require(keys.shareOwner(of: key))
        #expect(told.id == id && told.number == 12)
        #expect(keys.shareID(ofEnd: key) == nil)
        for name in [
            "\(Self.text).owner-0.json", "\(Self.text).owner-01.json", "\(Self.text).owner-+1.json",
            "\(Self.text).owner-.json", "\(Self.text).owner-1", "x.owner-1.json", "\(Self.text).ended.json",
        ] {
            #expect(keys.shareOwner(of: try ObjectKey("users/ana/shares/\(name)")) == nil, "\(name)")
        }
        #expect(keys.shareOwner(of: try ObjectKey("users/bob/shares/\(Self.text).owner-1.json")) == nil)
    }
}
