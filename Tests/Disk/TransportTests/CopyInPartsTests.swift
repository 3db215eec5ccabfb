import FoundationEssentials
import SyncCore
import SyncS3
import SyncTestSupport
import Testing

/// Copies of what is larger than one request copies, here 5 MiB.
@Suite struct CopyInPartsTests {
    private static let name = "f/film"

    /// Runs `work` with a store that has a film of 11 MiB, which went up in three parts.
    private func withFilm(_ work: (ScriptedS3Server, S3Store, StoredObject) async throws -> Void) async throws {
        try await ScriptedS3Server.run { server in
            var settings = S3Settings(bucket: server.bucket, endpoint: server.endpoint)
            settings.parts = PartSizes(threshold: 5 << 20, smallestPart: 5 << 20, largestCopy: 5 << 20)
            let store = try S3Store(settings: settings, environment: server.environment, now: { server.now })
            do {
                let tree = try TemporaryTree()
                try tree.write([UInt8].noise(11 << 20), to: "film.mp4")
                _ = try await store.put(
                    try tree.body("film.mp4"), at: try ObjectKey(Self.name),
                    attributes: ObjectAttributes(contentType: "video/mp4", metadata: ["sha256": "ab"]),
                    condition: .ifAbsent)
                try await work(server, store, try #require(server.object(Self.name)))
            } catch {
                await store.close()
                throw error
            }
            await store.close()
        }
    }

    @Test func `It goes to the archive as it was, in the same parts, and a part that fails once is copied again`()
        async throws
    {
        try await withFilm { server, store, film in
            server.script(.slowDown, on: .uploadPartCopy)
            let key = try ObjectKey(Self.name)
            try await store.copy(key, to: key, storageClass: .deepArchive, condition: .overwrite)
            let copy = try #require(server.object(Self.name))
            #expect(copy.storageClass == .deepArchive && copy.bytes == film.bytes && copy.etag == film.etag)
            #expect(copy.metadata == film.metadata)
            #expect(copy.systemHeaders["content-type"] == "video/mp4")
            #expect(copy.generation == 2 && server.openUploads == [])
            #expect(server.requests(.uploadPartCopy).count == 4)
            #expect(server.requests(.copyObject).isEmpty)
        }
    }

    @Test func `Where a part cannot be copied the object stays as it is, and no part is left`() async throws {
        try await withFilm { server, store, film in
            server.script(.slowDown, on: .uploadPartCopy, numbers: 1...100)
            let key = try ObjectKey(Self.name)
            let error = await #expect(throws: StoreError.self) {
                try await store.copy(key, to: key, storageClass: .deepArchive, condition: .overwrite)
            }
            #expect(error?.code == .throttled)
            let left = try #require(server.object(Self.name))
            #expect(left.storageClass == .standard && left.generation == 1 && left.etag == film.etag)
            #expect(server.openUploads == [])
        }
    }

    @Test func `It goes to another key as well, and to none that is taken`() async throws {
        try await withFilm { server, store, film in
            let (key, other) = (try ObjectKey(Self.name), try ObjectKey("f/other"))
            try await store.copy(key, to: other, storageClass: .standard, condition: .ifAbsent)
            #expect(server.object("f/other")?.bytes == film.bytes)
            let error = await #expect(throws: StoreError.self) {
                try await store.copy(key, to: other, storageClass: .standard, condition: .ifAbsent)
            }
            #expect(error?.code == .alreadyExists)
            #expect(server.object("f/other")?.generation == 1 && server.openUploads == [])
        }
    }
}
