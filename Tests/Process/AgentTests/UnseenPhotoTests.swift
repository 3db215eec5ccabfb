import SyncTestSupport
import SystemPackage
import Testing

/// What is on the disk, and not stored yet, is never called safe.
struct UnseenPhotoTests {
    @Test func `photos that were just written wait at once, those that the agent finds and those that come`()
        async throws
    {
        let home = try AgentHome(settle: "600")
        let (old, new) = (home.gallery.appending("a.jpg"), home.gallery.appending("b.jpg"))
        try old.create(SamplePhoto.unique(1))
        let agent = try await home.startAgent()
        _ = try await home.photos(at: old) { $0.first?.state == "pending" }
        try new.create(SamplePhoto.unique(2))
        _ = try await home.photos(at: new) { $0.first?.state == "pending" }
        #expect(try await home.overview().totals.pending == 2)
        #expect(try await home.run("status").text.contains("Everything is safe") == false)
        try new.remove()
        _ = try await home.photos(at: new) { $0.isEmpty }
        #expect(try await home.overview().totals.pending == 1)
        #expect(agent.outcomes.isEmpty)
    }

    @Test func `a folder that is watched again counts as not looked at until it was`() async throws {
        let home = try AgentHome()
        func watch(_ folders: [String], store: FilePath? = nil) throws {
            try home.configure(
                """
                user: ana
                store: {type: directory, path: \(store ?? home.store.root)}
                watch: [\(folders.joined(separator: ", "))]
                upload: {settle_seconds: 0.2}
                """)
        }
        let (gallery, trips) = ("{kind: gallery, path: \(home.gallery)}", "{kind: vacations, path: \(home.vacations)}")
        try home.gallery.appending("b.jpg").create(SamplePhoto.unique(2))
        for folders in [[gallery, trips], [gallery]] {
            try watch(folders)
            _ = try await home.pass()
        }
        // A pass that ends before it has looked at anything has met the folder all the same.
        try watch([gallery, trips], store: home.tree.path("other"))
        #expect(try await home.run("sync").code == 78)
        try watch([gallery, trips])
        try home.vacations.appending("Rome").appending("a.jpg").create(SamplePhoto.unique(1))
        let before = try await home.overview().folders.map(\.problem)
        #expect(before[0] == nil && before[1]?.contains("it was not looked at yet") == true)
        _ = try await home.pass()
        #expect(try await home.overview().folders.map(\.problem) == [nil, nil])
    }
}
