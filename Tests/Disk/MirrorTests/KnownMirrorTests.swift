import Glibc
import SyncCore
import SyncEngine
import SyncTestSupport
import SystemPackage
import Testing

/// What a mirror knows where its hidden file, or a part of it, is lost.
@Suite struct KnownMirrorTests {
    private static let state = "home/paris/.sync-agent-mirror.json"
    private static let names = ShareMirrorTests.names
    private static let own = "\"size\":2000,\"name\":\"IMG_1.HEIC\""

    private func end(_ trip: SharedTrip) {
        trip[SharedTrip.folder + "vacation.json"] = nil
        trip[SharedTrip.folder + "index.html"] = nil
    }

    @Test(arguments: [nil, "{", "{}", "{\"version\":1}"])
    func `Of a share that is gone, the manifest in the folder tells what it had`(hidden: String?) async throws {
        try await SharedTrip.run { trip in
            _ = try await trip.mirror().run()
            unlink(trip.tree.path(Self.state).string)
            if let hidden { try trip.tree.write(hidden, to: Self.state) }
            end(trip)
            let whole = try await trip.mirror().run()
            #expect(whole.end == .gone && whole.isComplete && whole.alreadyThere == 4)
            unlink(trip.destination.appending(Self.names[0]).string)
            try trip.tree.write("edited", to: "home/paris/\(Self.names[1])")
            let part = try await trip.mirror().run()
            #expect(!part.isComplete && part.alreadyThere == 2 && part.neverFetched == [Self.names[0]])
            #expect(part.kept.map(\.name) == [Self.names[1]] && part.kept.map(\.reason) == [.nameTaken])
            unlink(trip.destination.appending("vacation.json").string)
            let error = await #expect(throws: StoreError.self) { try await trip.mirror().run() }
            #expect(error?.code == .notFound)
        }
    }

    @Test(arguments: [true, false])
    func `One wrong entry of the hidden file takes none of the others along`(isGone: Bool) async throws {
        try await SharedTrip.run { trip in
            _ = try await trip.mirror().run()
            let text = String(decoding: try trip.tree.read(Self.state), as: UTF8.self)
            // The first one of its photos, in what the share had last.
            let place = try #require(text.firstRange(of: "\"\(Self.names[0])\""))
            try trip.tree.write(text.replacingSubrange(place, with: "7"), to: Self.state)
            unlink(trip.destination.appending(Self.names[1]).string)
            unlink(trip.destination.appending("vacation.json").string)
            if isGone { end(trip) }
            trip.server.forgetRequests()
            let result = try await trip.mirror().run()
            #expect(result.alreadyThere == 3 && trip.photoRequests.isEmpty)
            #expect(result.kept.map(\.name) == [Self.names[1]] && result.kept.map(\.reason) == [.deleted])
            guard !isGone else { return }
            #expect(result.notes.contains { $0.contains("could not be read in part") })
            // And it is written anew.
            let next = try await trip.mirror().run()
            #expect(next.notes.isEmpty && next.kept == result.kept)
        }
    }

    @Test(arguments: [true, false], [true, false])
    func `Photos are found under both kinds of names`(keepsNames: Bool, isEnded: Bool) async throws {
        try await SharedTrip.run { trip in
            trip.publish(trip.photos(4), changes: ["\"size\":2000": Self.own])
            _ = try await trip.mirror(nil, ShareMirror.Options(keepsNames: keepsNames)).run()
            let name = keepsNames ? "IMG_1.jpg" : Self.names[0]
            let names = try trip.names()
            #expect(names.contains(name))
            unlink(trip.tree.path(Self.state).string)
            if isEnded {
                let over = ["2026-02-01": "2026-01-01", "\"size\":2000": Self.own]
                trip.publish(trip.photos(4), changes: over)
            }
            trip.server.forgetRequests()
            let result = try await trip.mirror(nil, ShareMirror.Options(keepsNames: !keepsNames)).run()
            #expect(result.alreadyThere == 4 && result.failed == 0 && result.kept.isEmpty && result.isComplete)
            let after = try trip.names().filter { $0.hasSuffix(".jpg") }
            #expect(trip.photoRequests.isEmpty && after == names.filter { $0.hasSuffix(".jpg") })
        }
    }

    @Test func `The hidden file of many photos that changed often is read as any other`() async throws {
        try await SharedTrip.run { trip in
            _ = try await trip.mirror().run()
            let text = String(decoding: try trip.tree.read(Self.state), as: UTF8.self)
            // As long as that of 10,000 photos of which each has changed eight times.
            try trip.tree.write(text + String(repeating: " ", count: 24 << 20), to: Self.state)
            unlink(trip.destination.appending(Self.names[1]).string)
            let result = try await trip.mirror().run()
            #expect(result.kept.map(\.name) == [Self.names[1]] && result.kept.map(\.reason) == [.deleted])
        }
    }

    @Test func `Where the hidden file has lost all its photos, they are found, and it is told`() async throws {
        try await SharedTrip.run { trip in
            _ = try await trip.mirror().run()
            try trip.tree.write("{\"version\":1,\"shareId\":\"\(SharedTrip.id)\",\"photos\":7}", to: Self.state)
            let result = try await trip.mirror().run()
            #expect(result.notes.count == 1 && result.alreadyThere == 4 && result.isComplete)
        }
    }
}

extension String {
    fileprivate func replacingSubrange(_ range: Range<String.Index>, with text: String) -> String {
        var copy = self
        copy.replaceSubrange(range, with: text)
        return copy
    }
}
