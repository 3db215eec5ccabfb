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
        ("a.xmp", "<html><br>"), ("a.xmp", "<!-- --> words"),
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

    private static let long = """
        <?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
        <!-- 1 > 0 --><x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk='a "tool" of > 3'>
        <rdf:RDF><rdf:li>\(String(repeating: "word ", count: 900))</rdf:li><a/></rdf:RDF></x:xmpmeta>
        <?xpacket end="w"?>
        """

    @Test(arguments: [("a.xmp", xmp), ("a.aae", aae), ("a.xmp", #"<?xml version="1.0"?>"# + xmp), ("a.xmp", long)])
    func `a sidecar that was cut is refused in one way, wherever it was cut`(name: String, text: String) throws {
        let tree = try TemporaryTree()
        #expect(throws: Never.self) { try reducer.examine(try tree.write(Array(text.utf8), to: "whole/" + name)) }
        // The end of a packet says nothing that counts, and behind the root nobody can tell that it is missing.
        let end = try #require(text.range(of: name.hasSuffix("xmp") ? "</x:xmpmeta>" : "</plist>")).upperBound
        let count = text[..<end].utf8.count
        for length in stride(from: 1, to: count, by: max(1, count / 150)) {
            let path = try tree.write(Array(text.utf8.prefix(length)), to: "\(length)-\(name)")
            let error = #expect(throws: PhotoError.self, "\(length)") { _ = try reducer.examine(path) }
            #expect(error?.code == .truncated, "\(length): \(error?.message ?? "")")
        }
    }

    @Test(arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf16])
    func `one in UTF-16 is one, too`(encoding: String.Encoding) throws {
        let tree = try TemporaryTree()
        // Halves of these are a quote and a bracket.
        let text = Self.xmp.replacing("<rdf:RDF/>", with: "<rdf:RDF a='\u{2722}\u{3C3C}'>\u{3C22}</rdf:RDF>") + "\n"
        let path = try tree.write(Array(try #require(text.data(using: encoding))), to: "a.xmp")
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
