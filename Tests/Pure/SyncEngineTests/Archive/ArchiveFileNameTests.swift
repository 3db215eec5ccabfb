import FoundationEssentials
import SyncCore
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct ArchiveFileNameTests {
    private func name(_ profile: String, _ event: String) async throws -> String {
        let bench = try ArchiveBench()
        try await bench.put(event, "2025-03-10T08:00:00Z", profile: profile)
        let memory = try #require(try await bench.list.page(ArchiveFilter(), limit: 1).photos.first)
        return ArchiveFileName.name(of: memory).string
    }

    @Test(arguments: [
        ("0f3a9c21-6c0e-4c57-9c55-1b1a0c9b5b2d", "e1", "2025-03-10_0f3a9c21-6c0e-4c57-9c55-1b1a0c9b5b2d_e1.jpg"),
        ("grandma", "task_17", "2025-03-10_grandma_task_17.jpg"),
        ("Großmutter", "e.1", "2025-03-10_Großmutter_e.1.jpg"),
    ])
    func `a plain name tells day, profile and event`(profile: String, event: String, expected: String) async throws {
        #expect(try await name(profile, event) == expected)
    }

    @Test(arguments: [
        ("p q", "e"), ("p", "e?"), ("a_b", "c"), ("p", "*"), (String(repeating: "é", count: 300), "e"),
        ("..a", "~;$(x)"),
    ])
    func `another name is made harmless, and stays the only one of its kind`(profile: String, event: String)
        async throws
    {
        let name = try await name(profile, event)
        #expect(name.utf8.count <= 255)
        #expect(name.allSatisfy { $0.isLetter || $0.isNumber || "-_.+@".contains($0) })
        #expect(name.hasSuffix(".jpg"))
        #expect(name.dropLast(4).suffix(8).allSatisfy { $0.isHexDigit })
    }

    @Test(arguments: [
        ("image/png", "png"), ("image/heic", "heic"), ("image/jpeg", "jpg"), ("application/octet-stream", "jpg"),
    ])
    func `a name ends as the bytes want it`(contentType: String, ending: String) async throws {
        let bench = try ArchiveBench()
        try await bench.put("e1", "2025-03-10T08:00:00Z", contentType: contentType)
        let memory = try #require(try await bench.list.page(ArchiveFilter(), limit: 1).photos.first)
        #expect(ArchiveFileName.name(of: memory).string == "2025-03-10_p1_e1.\(ending)")
    }

    @Test func `two photos never have one name`() async throws {
        let names = try await [
            name("a_b", "c"), name("a", "b_c"), name("a b", "c"), name("a?b", "c"), name("a", "b c"),
            // One text in two normal forms.
            name("a", "caf\u{e9}"), name("a", "cafe\u{301}"),
        ]
        #expect(Set(names).count == 7)
    }
}
