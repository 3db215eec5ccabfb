import SyncCore
import SystemPackage
import Testing

@Suite struct OriginalNameTests {
    @Test(
        arguments: [
            ("IMG_1.JPG", "IMG_1.JPG"), ("Fête à la plage.jpeg", "Fête à la plage.jpeg"), ("日本 🏔️.jpg", "日本 🏔️.jpg"),
            // The copy is a JPEG file, whatever the file was.
            ("IMG_2.HEIC", "IMG_2.jpg"), ("no ending", "no ending.jpg"), ("a.tar.gz", "a.tar.jpg"),
            ("x.desktop", "x.desktop.jpg"),
            ("run.sh", "run.jpg"), ("vacation.json", "vacation.jpg"), ("page.HTML", "page.jpg"),
            ("3.5 km", "3.5 km.jpg"),
            // What disks and terminals do not take.
            ("12:30?.jpg", "12_30_.jpg"), ("C:\\Windows\\a.jpg", "C__Windows_a.jpg"), ("a\u{202E}gpj.exe", "agpj.jpg"),
            ("a\u{1B}[2Jb\n.jpg", "a [2Jb.jpg"), ("a\u{0}b.jpg", "a b.jpg"), ("end. .jpg", "end.jpg"),
            ("  a.jpg", "a.jpg"),
            // Nothing harmless is left, or it is as mirrors name others.
            ("../a.jpg", nil), ("/etc/passwd", nil), ("a/b.jpg", nil), ("..", nil), (".", nil), ("", nil),
            (".jpg", nil),
            (".sync-agent-mirror.json", nil), (".bashrc", nil), ("-rf.jpg", nil), ("~root.jpg", nil),
            ("\u{200B}.jpg", nil),
            // With a mark behind it, it is another character, and the same byte.
            ("a/\u{301}b.jpg", nil), (".\u{301}x.jpg", nil), ("-\u{301}x.jpg", nil),
            ("12:\u{301}30.jpg", "12_\u{301}30.jpg"),
            ("001_2024-06-15_Paris.jpg", nil), ("0012_2024-06-15.jpg", nil), ("...jpg", nil),
            ("001_2024-13-45.jpg", "001_2024-13-45.jpg"), ("12_2024-06-15.jpg", "12_2024-06-15.jpg"),
        ] as [(String, String?)])
    func `what is made of a name is a plain, visible file of a photo`(text: String, name: String?) {
        #expect(OriginalName(text, film: nil)?.text == name)
    }

    @Test(arguments: [
        ("a.MP4", FilmType.mp4, "a.MP4"), ("a.m4v", .mp4, "a.m4v"), ("a.mov", .mp4, "a.mp4"),
        ("a.MOV", .quickTime, "a.MOV"),
        ("a.jpg", .quickTime, "a.mov"),
    ])
    func `a film has the ending of a film`(text: String, film: FilmType, name: String) {
        #expect(OriginalName(text, film: film)?.text == name)
    }

    @Test func `a long name is cut between two characters, and has room for what comes behind it`() throws {
        let long = String(repeating: "é👨‍👩‍👧", count: 60)
        let name = try #require(OriginalName("\(long).jpeg", film: nil))
        #expect(name.text.utf8.count <= 190 && name.text.hasPrefix("é👨‍👩‍👧é") && name.text.hasSuffix(".jpeg"))
        #expect(name.text.dropLast(5).allSatisfy { "é👨‍👩‍👧".contains($0) })
    }

    // MARK: In a share

    private func share(_ names: [String?]) throws -> CheckedShare {
        let photos = names.enumerated().map { index, name in
            """
            {"orderIndex":\(index),"width":4,"height":3,"size":9,"takenAt":null,
            "name":\(name.map { "\"\($0)\"" } ?? "null"),"sha256":"\(String(repeating: "a\(index)", count: 32))"}
            """
        }
        let text = """
            {"version":1,"shareId":"7d0c6e2a-33b1-4d5e-9c61-0a4b8f2e9d10","locationName":"Paris","startDate":"2024-06-15",
            "endDate":"2024-06-15","photoCount":\(names.count),"sharedBy":null,"expiresAt":"2026-02-01T00:00:00Z",
            "updatedAt":"2026-01-01T00:00:00Z","photos":[\(photos.joined(separator: ","))]}
            """
        return try ShareManifestRules(asked: nil).check(Array(text.utf8), foundAt: nil)
    }

    private func names(_ texts: [String?], taken: [Int: [String]] = [:]) throws -> [String?] {
        let share = try share(texts)
        let names = OriginalNames(share, taken: taken)
        return share.photos.map { names.name(of: $0)?.string }
    }

    @Test func `each name is given once, whatever a disk takes for the same, and what is left has its number`() throws {
        #expect(
            try names(["a.jpg", "A.JPG", "a.heic", nil, "é.jpg", "e\u{301}.jpg", "../b.jpg"])
                == ["a.jpg", "A_002.JPG", "a_003.jpg", nil, "é.jpg", "e\u{301}_006.jpg", nil])
        // Somebody who knows how names are made.
        #expect(try names(["a.jpg", "a_003.jpg", "a.jpg"]) == ["a.jpg", "a_003.jpg", nil])
    }

    @Test func `what the folder has of another photo is given to none`() throws {
        #expect(try names(["a.jpg", "b.jpg"], taken: [7: ["A.jpg"], 1: ["b.jpg"]]) == ["a_001.jpg", "b.jpg"])
    }

    @Test func `a manifest keeps what was made of a name, and a reader of it believes no other`() throws {
        let share = try share(["IMG_1.HEIC", "../../x"])
        #expect(share.manifest.photos.map(\.name) == ["IMG_1.jpg", nil])
        let photo = share.photos[0]
        for name in ["IMG_1.jpg", "IMG_1_001.jpg", "IMG_1_001_0123abcd.jpg", "001_old.jpg"] {
            #expect(MirrorName.admits(try #require(FilePath.Component(name)), of: photo), "\(name)")
        }
        for name in ["IMG_1_002.jpg", "IMG_1_budget.jpg", "IMG_1.png", "img_1.jpg", "IMG_2.jpg", ".IMG_1.jpg"] {
            #expect(!MirrorName.admits(try #require(FilePath.Component(name)), of: photo), "\(name)")
        }
    }
}
