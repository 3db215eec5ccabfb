import FoundationEssentials
import SyncCore
import SystemPackage
import Testing

struct CatalogCodingTests {
    private static let md5 = MD5Digest(bytes: Array(0..<16))
    private static let sha256 = SHA256Digest(bytes: Array(0..<32))

    private func coding() throws -> CatalogCoding { CatalogCoding(keys: try KeyLayout(user: "ana")) }

    private static func photo(
        _ path: FilePath, key: String? = nil, type: String = "image/jpeg", drive: DriveIdentity? = nil
    ) throws -> CatalogPhoto {
        CatalogPhoto(
            place: CatalogPlace(folder: 1, path: path), file: .init(size: 5, modified: 1_700_000_000_123_456_789),
            md5: md5, key: try ObjectKey(key ?? "users/ana/photos/000102030405060708090a0b0c0d0e0f.dat"),
            sha256: sha256, size: 4, contentType: type, takenAt: CaptureTime("2024-06-15T07:30:00+09:00"), width: 3,
            height: 2, drive: drive)
    }

    private static var lines: [CatalogLine] {
        get throws {
            var vacation = CatalogVacation(
                folder: 2, name: "Paris_France_2024-06-15", location: "Paris France", start: "2024-06-15",
                end: "2024-06-22")
            vacation.key = "Paris_1"
            var share = CatalogShare(
                share: "1a3aaee6-7e26-48a4-ac4e-3f2bd5981be5", path: "/v/Paris", selection: "", quality: "reduced",
                location: "Paris", start: "2024-06-15", end: "2024-06-22", createdAt: 1, expiresAt: 2, state: "live",
                step: "done", nextSlot: 1)
            share.photos = [CatalogShare.Photo(slot: 0, md5: "00", path: "/v/Paris/a.jpg", local: true)]
            let item = CatalogRestore.Item(
                key: "users/ana/photos/x.dat", path: "/g/a.jpg", size: 1, storageClass: "GLACIER", tier: "bulk",
                state: "retrieving")
            return [
                .header(
                    CatalogHeader(
                        user: "ana", machine: "0011223344556677", name: "laptop", from: 1, to: 3,
                        written: Date(timeIntervalSince1970: 1_700_000_000), replaces: ["aa": 4])),
                .folder(CatalogFolder(folder: 1, kind: "gallery", path: "/home/ana/Gallery")),
                .folder(
                    CatalogFolder(
                        folder: 2, kind: "gallery", path: "/home/ana/Usb",
                        drives: [
                            CatalogDrive(path: "SD", drive: DriveIdentity(.disk, uuid: "1111", folder: "/")),
                            CatalogDrive(path: "nas", drive: nil),
                        ])),
                .photo(try photo("2019/rome/a.jpg")),
                .photo(try photo("a.png", key: "users/ana/projects/a.png", type: "image/png")),
                .photo(try photo(FilePath(bytes: [0x61, 0xFF, 0x2E, 0x6A]))),
                .gone(CatalogPlace(folder: 1, path: "old.jpg")), .state, .vacation(vacation), .share(share),
                .restore(
                    CatalogRestore(
                        restore: 7, requestedAt: 1, by: "ana", tier: "bulk", rush: false, days: 30, items: [item])),
                .profile(CatalogProfile(profile: "6f1c2d3e-1111-4222-8333-444455556666")),
                .profile(CatalogProfile(profile: "grandma", name: "Oma", into: "u-17", number: false)),
                .profile(CatalogProfile(profile: "grandpa", number: false, announced: "u-17")), .end(13),
            ]
        }
    }

    @Test func `a folder without drives is told as before, and the name of a server stays here`() throws {
        let data = try coding().data(.folder(CatalogFolder(folder: 1, kind: "gallery", path: "/g")))
        #expect(String(decoding: data, as: UTF8.self) == #"{"folder":1,"kind":"gallery","path":"/g"}"# + "\n")
        let server = DriveIdentity(.network, source: "ftp://ana:secret@nas/photos")
        #expect(CatalogDrive(path: "nas", drive: server).drive == nil)
        let both = DriveIdentity(.network, fsid: "7", source: "ftp://ana:secret@nas/photos")
        #expect(CatalogDrive(path: "nas", drive: both).drive?.contains("secret") == false)
    }

    @Test func `a photo tells of a drive only where it has one, and never the name of a server`() throws {
        func text(_ drive: DriveIdentity?) throws -> String {
            String(decoding: try coding().data(.photo(Self.photo("a.jpg", drive: drive))), as: UTF8.self)
        }
        #expect(try !text(nil).contains("drive"))
        #expect(try !text(DriveIdentity(.network, source: "ftp://ana:secret@nas/photos")).contains("drive"))
        let server = DriveIdentity(.network, fsid: "7", source: "ftp://ana:secret@nas/photos")
        #expect(try text(server).contains(#""drive":"network\nfsid=7""#) && !text(server).contains("secret"))
        let card = DriveIdentity(.disk, uuid: "2222", folder: "/dcim")
        let line = CatalogLine.photo(try Self.photo("a.jpg", drive: card))
        #expect(try coding().line(coding().data(line).dropLast()) == line)
    }

    @Test(arguments: ["tape", "disk", ""])
    func `a photo counts also where its drive is one that nobody knows`(drive: String) throws {
        let line = #"{"f":1,"p":"a.jpg","md5":"000102030405060708090a0b0c0d0e0f","b":4,"drive":"\#(drive)"}"#
        guard case .photo(let photo)? = try coding().line(Data(line.utf8)) else {
            Issue.record("the line is one of a photo")
            return
        }
        #expect(photo.drive == nil)
    }

    @Test func `each line comes back as it was written, also a path that is no text`() throws {
        for line in try Self.lines {
            let data = try coding().data(line)
            #expect(data.last == UInt8(ascii: "\n") && data.count { $0 == UInt8(ascii: "\n") } == 1)
            #expect(try coding().line(data.dropLast()) == line)
        }
    }

    @Test func `a profile of which no more is known than its id is written as versions before names wrote it`() throws {
        let id = "6f1c2d3e-1111-4222-8333-444455556666"
        let line = CatalogLine.profile(CatalogProfile(profile: id))
        #expect(String(decoding: try coding().data(line), as: UTF8.self) == "{\"profile\":\"\(id)\"}\n")
    }

    @Test func `what follows from the MD5 is not written, and a line of a photo is short`() throws {
        let text = String(decoding: try coding().data(.photo(Self.photo("a.jpg"))), as: UTF8.self)
        #expect(!text.contains("users/ana") && !text.contains("image/jpeg") && text.utf8.count < 250)
        #expect(text.contains("\"p\":\"a.jpg\"") && text.contains("000102030405060708090a0b0c0d0e0f"))
    }

    @Test func `what a later version adds is passed over, and what is no line is told`() throws {
        #expect(try coding().line(Data(#"{"weather":"fine"}"#.utf8)) == .unknown)
        #expect(try coding().line(Data(#"{"end":3,"more":true}"#.utf8)) == .end(3))
        for bad in ["", "{", "[]", #"{"f":1,"p":"a.jpg"}"#, #"{"f":1,"p":"a.jpg","b":3,"key":"../x"}"#, "\u{0}"] {
            #expect(try coding().line(Data(bad.utf8)) == nil, "\(bad)")
        }
    }

    @Test(arguments: [(1_200, Duration.milliseconds(1_200)), (.max, nil), (-1, nil)] as [(Int64, Duration?)])
    func `a film lasts what films can last, whatever its line says`(milliseconds: Int64, duration: Duration?) throws {
        let line = #"{"f":1,"p":"a.mp4","md5":"000102030405060708090a0b0c0d0e0f","b":4,"ms":\#(milliseconds)}"#
        guard case .photo(let photo)? = try coding().line(Data(line.utf8)) else {
            Issue.record("the line is one of a photo")
            return
        }
        #expect(photo.duration == duration)
    }

    @Test(arguments: [
        #"{"share":"1","path":"/v","selection":"","quality":"full","location":"P","start":"2024-06-15","#
            + #""end":"2024-06-22","createdAt":1,"expiresAt":N,"state":"live","step":"done","nextSlot":1,"photos":[]}"#,
        #"{"restore":1,"requestedAt":1,"by":"ana","tier":"bulk","rush":false,"days":N,"items":[]}"#,
        #"{"restore":1,"requestedAt":1,"by":"ana","tier":"bulk","rush":false,"days":1,"items":[{"key":"a","size":N,"#
            + #""storageClass":"GLACIER","tier":"bulk","state":"planned"}]}"#,
        #"{"f":2,"vacation":"P","location":"P","start":"2024-06-15","end":"2024-06-22","storedAt":N}"#,
        #"{"f":1,"p":"a.jpg","md5":"000102030405060708090a0b0c0d0e0f","b":N}"#,
        #"{"f":1,"p":"a.jpg","md5":"000102030405060708090a0b0c0d0e0f","b":4,"s":N,"t":1}"#,
        #"{"share":"1","path":"/v","selection":"","quality":"full","location":"P","start":"2024-06-15","#
            + #""end":"2024-06-22","createdAt":1,"expiresAt":2,"state":"live","step":"done","nextSlot":1,"photos":["#
            + #"{"slot":1,"md5":"000102030405060708090a0b0c0d0e0f","path":"a.jpg","local":true,"size":N}]}"#,
    ])
    func `a line whose numbers cannot be is none`(line: String) throws {
        func read(_ number: Int64) throws -> CatalogLine? {
            try coding().line(Data(line.replacing("N", with: "\(number)", maxReplacements: 1).utf8))
        }
        #expect(try read(30) != nil)
        #expect(try read(.max) == nil)
        #expect(try read(.min) == nil)
    }

    // MARK: Segments

    private func segment(_ from: Int, _ to: Int) -> CatalogSegment { CatalogSegment(machine: "m", from: from, to: to) }

    @Test(arguments: [
        #"{"f":1,"p":"P","md5":"000102030405060708090a0b0c0d0e0f","b":4}"#, #"{"f":1,"p":"P","gone":true}"#,
        #"{"f":2,"vacation":"P","location":"Paris","start":"2024-06-15","end":"2024-06-22"}"#,
    ])
    func `no line leads out of the folder that it is about, in whatever way it is written`(line: String) throws {
        let outside = ["../../.config/evil", "..", "a/../../b", "/etc/evil", "./a", ""]
        let paths = outside + outside.map { "base64:" + Data($0.utf8).base64EncodedString() }
        for path in paths {
            #expect(try coding().line(Data(line.replacing("P", with: path, maxReplacements: 1).utf8)) == nil, "\(path)")
        }
        #expect(try coding().line(Data(line.replacing("P", with: "..a/b", maxReplacements: 1).utf8)) != nil)
        for path in ["relative", "/home/../etc"] {
            #expect(try coding().line(Data(#"{"folder":1,"kind":"gallery","path":"\#(path)"}"#.utf8)) == nil)
        }
    }

    @Test func `a segment is known by its key, and other keys are none`() throws {
        let keys = try KeyLayout(user: "ana")
        let key = try segment(3, 12).key(keys)
        #expect(key.rawValue == "users/ana/catalog/m/00000003-00000012.jsonl.gz")
        #expect(CatalogSegment(key, keys) == segment(3, 12))
        let last = segment(1, CatalogSegment.highestWrite)
        #expect(CatalogSegment(try last.key(keys), keys) == last)
        for other in [
            "users/ana/catalog/m/1-1000000000001.jsonl.gz", "users/ana/catalog/m/1-\(Int.max).jsonl.gz",
            "users/ana/catalog/m/0-1.jsonl.gz", "users/ana/catalog/m/5-4.jsonl.gz", "users/ana/catalog/m/1-2.json",
            "users/ana/catalog/1-2.jsonl.gz", "users/ben/catalog/m/1-2.jsonl.gz", "users/ana/photos/1-2.jsonl.gz",
        ] {
            #expect(CatalogSegment(try ObjectKey(other), keys) == nil, "\(other)")
        }
    }

    @Test func `the longest segment from each number on is read, what it stands for is not, and gaps are told`() {
        let whole = CatalogChain([segment(1, 1), segment(1, 4), segment(2, 2), segment(5, 5), segment(6, 9)])
        #expect(whole.segments == [segment(1, 4), segment(5, 5), segment(6, 9)] && whole.gaps == [])
        #expect(Set(whole.superseded) == [segment(1, 1), segment(2, 2)])
        let torn = CatalogChain([segment(1, 4), segment(7, 7)])
        #expect(torn.segments == [segment(1, 4), segment(7, 7)] && torn.gaps == [5...6])
        #expect(CatalogChain([segment(3, 4)]).gaps == [1...2])
        #expect(CatalogChain([]).segments == [])
    }

    @Test func `segments stay few, and each line is seldom written again`() {
        var lengths: [Int] = []
        var written = 0
        for _ in 0..<10_000 {
            let count = CatalogCompaction.absorbed(lengths, new: 100)
            let sum = lengths.suffix(count).reduce(100, +)
            lengths = Array(lengths.dropLast(count)) + [sum]
            written += sum
            #expect(lengths.count <= 10)
        }
        #expect(lengths.reduce(0, +) == 1_000_000)
        #expect(written < 40 * 1_000_000)
    }
}
