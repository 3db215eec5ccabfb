import SystemPackage
import Testing

@testable import SyncWatch

@Suite struct EntryNameTests {
    @Test(
        arguments: [
            ("/photos", "/photos", ""), ("/photos/a", "/photos", "a"), ("/photos/a/b c", "/photos", "a/b c"),
            ("/a", "/", "a"), ("/", "/", ""), ("/photos2", "/photos", nil), ("/phot", "/photos", nil),
            ("/photos/../etc", "/photos", nil), ("/photos/./a", "/photos", nil), ("/elsewhere", "/photos", nil),
        ] as [(FilePath, FilePath, FilePath?)])
    func `a path below a root is told from one that is not`(path: FilePath, root: FilePath, relative: FilePath?) {
        let below = RelativePath(path, below: root)
        #expect(below?.filePath == relative)
        if let below { #expect(below.filePath(below: root) == path) }
    }

    @Test(
        arguments: [("a.jpg", false), (".a.jpg", true), ("a.jpg.part", true), ("A.TMP", true)] as [(EntryName, Bool)])
    func `names are ignored as the core says`(name: EntryName, isIgnored: Bool) {
        #expect(name.isIgnored == isIgnored)
    }
}

extension EntryName: ExpressibleByStringLiteral {
    public init(stringLiteral name: String) {
        self = name.withCString { EntryName($0) }
    }
}
