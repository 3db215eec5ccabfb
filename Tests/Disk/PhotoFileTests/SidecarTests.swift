import Foundation
import SyncCore
import SyncDigest
import SyncPhotos
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct SidecarTests {
    private static let xmp = #"<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF/></x:xmpmeta>"#
    private static let aae = #"<?xml version="1.0"?><!DOCTYPE plist><plist version="1.0"><dict/></plist>"#
    private let reducer = PhotoFileReducer()

    @Test(arguments: [
        ("a.xmp", xmp, MediaType.xmp), ("a.jpg.XMP", "\u{FEFF}" + xmp + "\n\0", .xmp),
        ("a.xmp", #"<?xpacket begin=""?>"# + xmp + #"<?xpacket end="w"?>"#, .xmp),
        ("IMG_1.AAE", aae, .aae), ("IMG_1.aae", "bplist00\u{1}\u{2}", .aae),
    ])
    func `a sidecar is one by its name and its bytes, and is stored as it is`(
        name: String, text: String, type: MediaType
    ) throws {
        let tree = try TemporaryTree()
        let path = try tree.write(Array(text.utf8), to: name)
        let examined = try reducer.examine(path)
        #expect(examined.type == type)
        let copy = try reducer.reduce(path, examined: examined, policy: ReducePolicy())
        #expect(copy.content == .unchanged && copy.digest == ContentDigest(of: Array(text.utf8)))
    }

    @Test(arguments: [
        ("a.txt", xmp), ("a.xmp", "no markup"), ("a.xmp", "<html></html>"), ("a.xmp", aae), ("a.aae", xmp),
        ("a.xmp", ""),
        (".xmp", xmp),
    ])
    func `what is no sidecar by name or bytes stays on the machine`(name: String, text: String) throws {
        let tree = try TemporaryTree()
        let path = try tree.write(Array(text.utf8), to: name)
        let error = #expect(throws: PhotoError.self) { _ = try reducer.examine(path) }
        #expect(error?.code == .notStored)
    }

    @Test(arguments: [("a.xmp", xmp), ("a.aae", aae)])
    func `half a sidecar is refused`(name: String, text: String) throws {
        let tree = try TemporaryTree()
        let path = try tree.write(Array(text.utf8.dropLast(3)), to: name)
        let error = #expect(throws: PhotoError.self) { _ = try reducer.examine(path) }
        #expect(error?.code == .truncated)
    }

    @Test(arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf16])
    func `one in UTF-16 is one, too`(encoding: String.Encoding) throws {
        let tree = try TemporaryTree()
        let path = try tree.write(Array(try #require((Self.xmp + "\n").data(using: encoding))), to: "a.xmp")
        #expect(try reducer.examine(path).type == .xmp)
    }

    @Test func `one that is too large stays on the machine`() throws {
        let tree = try TemporaryTree()
        let text = Self.xmp.replacing("<rdf:RDF/>", with: "<rdf:RDF/>" + String(repeating: " ", count: 16 << 20))
        let path = try tree.write(Array(text.utf8), to: "a.xmp")
        let error = #expect(throws: PhotoError.self) { _ = try reducer.examine(path) }
        #expect(error?.code == .notStored && error?.message.contains("16 MiB") == true)
    }

    @Test func `where positions are taken out, it stays on the machine, since it may tell one`() throws {
        let tree = try TemporaryTree()
        let path = try tree.write(Array(Self.xmp.utf8), to: "a.xmp")
        let examined = try reducer.examine(path)
        let error = #expect(throws: PhotoError.self) {
            _ = try reducer.reduce(path, examined: examined, policy: ReducePolicy(stripLocation: true))
        }
        #expect(error?.code == .notStored && error?.message.contains("strip_location") == true)
    }
}
