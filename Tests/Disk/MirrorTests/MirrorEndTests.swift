import Glibc
import SyncCore
import SyncEngine
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// What a mirror says of a share that is there no more.
@Suite struct MirrorEndTests {
    @Test func `A preview of a whole mirror leaves it whole, unless the share has grown`() async throws {
        try await SharedTrip.run { trip in
            _ = try await trip.mirror().run()
            let preview = try await trip.mirror(nil, ShareMirror.Options(isPreview: true)).run()
            #expect(preview.isComplete && preview.alreadyThere == 3 && preview.downloaded.isEmpty)
            trip.publish(trip.photos(5))
            let grown = try await trip.mirror(nil, ShareMirror.Options(isPreview: true)).run()
            #expect(!grown.isComplete && grown.alreadyThere == 3)
            trip.publish(trip.photos(4))
            let forced = try await trip.mirror(nil, ShareMirror.Options(isPreview: true, isForced: true)).run()
            #expect(forced.isComplete && forced.alreadyThere == 3)
            trip[SharedTrip.folder + "vacation.json"] = nil
            trip[SharedTrip.folder + "index.html"] = nil
            let gone = try await trip.mirror().run()
            #expect(gone.end == .gone && gone.isComplete && gone.alreadyThere == 4)
        }
    }

    @Test func `A share that has ended says so, and what is there stays`() async throws {
        try await SharedTrip.run { trip in
            _ = try await trip.mirror(nil, ShareMirror.Options(isPreview: true)).run()
            trip.publish(trip.photos(4), changes: ["2026-02-01": "2026-01-01"])
            let part = try await trip.mirror().run()
            #expect(part.end == .expired(SharedTrip.now) && !part.isComplete && part.failed == 1)
            trip.publish(trip.photos(3), changes: ["2026-02-01": "2026-01-01"])
            let whole = try await trip.mirror().run()
            #expect(whole.isComplete && whole.alreadyThere == 3 && whole.failed == 0)
            let names = try trip.names()
            #expect(names.count == 5)
        }
    }

    @Test func `A share that is gone is told from one that never was`() async throws {
        try await SharedTrip.run { trip in
            let never = await #expect(throws: StoreError.self) {
                try await trip.mirror(trip.server.origin + "/other/index.html").run()
            }
            #expect(never?.code == .notFound)
            _ = try await trip.mirror().run()
            trip[SharedTrip.folder + "vacation.json"] = nil
            trip[SharedTrip.folder + "index.html"] = WebServer.Answer("<Error/>", status: 403)
            let result = try await trip.mirror().run()
            #expect(result.end == .gone && result.isComplete && result.alreadyThere == 4)
        }
    }

    @Test(arguments: [true, false])
    func `Of a share that has ended, what is missing or changed here is told, and not called here`(isGone: Bool)
        async throws
    {
        try await SharedTrip.run { trip in
            _ = try await trip.mirror().run()
            let names = ShareMirrorTests.names
            unlink(trip.destination.appending(names[1]).string)
            try trip.tree.write("edited", to: "home/paris/\(names[2])")
            end(trip, isGone: isGone, having: 4)
            let result = try await trip.mirror().run()
            #expect(result.end != nil && !result.isComplete && result.alreadyThere == 2 && result.failed == 0)
            #expect(
                result.kept.map(\.name) == [names[1], names[2]] && result.kept.map(\.reason) == [.deleted, .changed])
            for name in names { unlink(trip.destination.appending(name).string) }
            let nothing = try await trip.mirror().run()
            #expect(!nothing.isComplete && nothing.alreadyThere == 0 && nothing.kept.count == 4)
        }
    }

    @Test func `The photos of an ended share are read, also where size and time are as they were`() async throws {
        try await SharedTrip.run { trip in
            _ = try await trip.mirror().run()
            let name = ShareMirrorTests.names[1]
            let file = trip.destination.appending(name)
            let status = try FileStatus(at: file)
            let writer = try FileDescriptor.open(file, .writeOnly)
            try writer.closeAfter {
                try writer.writeAll([UInt8](repeating: 0, count: Int(status.stamp.size)))
                let (seconds, rest) = status.stamp.modified.quotientAndRemainder(dividingBy: 1_000_000_000)
                let time = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
                #expect(futimens(writer.rawValue, [time, time]) == 0)
            }
            end(trip, isGone: false, having: 4)
            let result = try await trip.mirror().run()
            #expect(result.alreadyThere == 3 && result.kept.map(\.name) == [name])
            #expect(result.kept.map(\.reason) == [.changed])
        }
    }

    @Test func `Where another file had a photo's name, not all of an ended share is here`() async throws {
        try await SharedTrip.run { trip in
            try trip.tree.write("mine", to: "home/paris/\(ShareMirrorTests.names[3])")
            _ = try await trip.mirror().run()
            trip[SharedTrip.folder + "vacation.json"] = nil
            trip[SharedTrip.folder + "index.html"] = nil
            let result = try await trip.mirror().run()
            #expect(result.end == .gone && !result.isComplete && result.alreadyThere == 3 && result.failed == 0)
            #expect(result.kept.map(\.name) == [ShareMirrorTests.names[3]] && result.kept.map(\.reason) == [.nameTaken])
        }
    }

    private func end(_ trip: SharedTrip, isGone: Bool, having count: Int) {
        if isGone {
            trip[SharedTrip.folder + "vacation.json"] = nil
            trip[SharedTrip.folder + "index.html"] = nil
        } else {
            trip.publish(trip.photos(count), changes: ["2026-02-01": "2026-01-01"])
        }
    }

    @Test(arguments: [true, false])
    func `A photo that had left the share before it ended is the person's, here or not`(isGone: Bool) async throws {
        try await SharedTrip.run { trip in
            _ = try await trip.mirror().run()
            trip.publish(trip.photos(3))
            let live = try await trip.mirror().run()
            #expect(live.isComplete && live.alreadyThere == 3)
            unlink(trip.destination.appending(ShareMirrorTests.names[3]).string)
            end(trip, isGone: isGone, having: 3)
            let result = try await trip.mirror().run()
            #expect(result.end != nil && result.isComplete && result.alreadyThere == 3 && result.kept.isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `A photo that never came is named when the share has ended`(isGone: Bool) async throws {
        try await SharedTrip.run { trip in
            _ = try await trip.mirror(nil, ShareMirror.Options(isPreview: true)).run()
            end(trip, isGone: isGone, having: 4)
            let result = try await trip.mirror().run()
            #expect(result.end != nil && !result.isComplete && result.alreadyThere == 3 && result.failed == 1)
            #expect(result.neverFetched == [ShareMirrorTests.names[3]] && result.kept.isEmpty)
        }
    }

    @Test(arguments: [nil, "{", "{}"])
    func `Of a share that has ended the files are looked at, also where nothing is known of them`(hidden: String?)
        async throws
    {
        try await SharedTrip.run { trip in
            _ = try await trip.mirror().run()
            let state = "home/paris/.sync-agent-mirror.json"
            unlink(trip.tree.path(state).string)
            if let hidden { try trip.tree.write(hidden, to: state) }
            end(trip, isGone: false, having: 4)
            let whole = try await trip.mirror().run()
            #expect(whole.isComplete && whole.alreadyThere == 4 && whole.failed == 0)
            unlink(trip.destination.appending(ShareMirrorTests.names[0]).string)
            try trip.tree.write("edited", to: "home/paris/\(ShareMirrorTests.names[1])")
            let part = try await trip.mirror().run()
            #expect(!part.isComplete && part.alreadyThere == 2 && part.neverFetched == [ShareMirrorTests.names[0]])
            #expect(part.kept.map(\.name) == [ShareMirrorTests.names[1]] && part.kept.map(\.reason) == [.nameTaken])
        }
    }

    @Test func `A share that ended before anything of it came is one that is not there`() async throws {
        try await SharedTrip.run { trip in
            end(trip, isGone: false, having: 4)
            let error = await #expect(throws: StoreError.self) { try await trip.mirror().run() }
            #expect(error?.code == .notFound)
            let files = try trip.tree.files(below: "home")
            #expect(files.isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `A share of which no photo came is told as such when it has ended`(isGone: Bool) async throws {
        try await SharedTrip.run { trip in
            for index in 0..<4 { trip[SharedTrip.path(index)] = nil }
            let live = try await trip.mirror().run()
            #expect(live.failed == 4 && live.end == nil && !live.neverCame)
            end(trip, isGone: isGone, having: 4)
            let result = try await trip.mirror().run()
            #expect(result.end != nil && result.neverCame && result.neverFetched == ShareMirrorTests.names)
            try trip.tree.write("mine", to: "home/paris/\(ShareMirrorTests.names[1])")
            let taken = try await trip.mirror().run()
            #expect(taken.neverCame && taken.kept.map(\.reason) == [.nameTaken])
        }
    }

    /// What can have the name of a photo and be none.
    enum Stranger: CaseIterable {
        case empty, folder, pipe, brokenLink, link
    }

    @Test(arguments: [true, false], Stranger.allCases)
    func `What is no photo counts as none when the share has ended`(isGone: Bool, stranger: Stranger) async throws {
        try await SharedTrip.run { trip in
            _ = try await trip.mirror().run()
            let place = trip.destination.appending(ShareMirrorTests.names[1]).string
            unlink(place)
            switch stranger {
            case .empty: try trip.tree.write("", to: "home/paris/\(ShareMirrorTests.names[1])")
            case .folder: mkdir(place, 0o700)
            case .pipe: mkfifo(place, 0o600)
            case .brokenLink: symlink("nowhere", place)
            case .link: symlink(trip.tree.path("outside/precious.jpg").string, place)
            }
            end(trip, isGone: isGone, having: 4)
            let result = try await trip.mirror().run()
            #expect(result.isComplete == (stranger == .link) && result.alreadyThere == 3 && result.failed == 0)
            let reason: MirrorResult.Kept.Reason = stranger == .link ? .changed : .nameTaken
            #expect(result.kept.map(\.name) == [ShareMirrorTests.names[1]] && result.kept.map(\.reason) == [reason])
        }
    }

    @Test(arguments: [true, false])
    func `A photo that cannot be looked at is named, and is neither here nor changed`(isEnded: Bool) async throws {
        try await SharedTrip.run { trip in
            _ = try await trip.mirror().run()
            // No file system takes a name of that length (path_resolution(7)).
            let long = "001_\(String(repeating: "x", count: 300)).jpg"
            let state = "home/paris/.sync-agent-mirror.json"
            let text = String(decoding: try trip.tree.read(state), as: UTF8.self)
            try trip.tree.write(text.replacing(ShareMirrorTests.names[0], with: long), to: state)
            if isEnded { end(trip, isGone: true, having: 4) }
            let result = try await trip.mirror().run()
            #expect(result.unreadable.map(\.name) == [long] && result.kept.isEmpty && result.alreadyThere == 3)
            #expect(result.failed == 1 && !result.isComplete && (result.end != nil) == isEnded)
            #expect(result.unreadable.allSatisfy { "\($0.error)".contains("the path is too long") })
        }
    }

    @Test func `A share that is revoked in the middle is told as such`() async throws {
        try await SharedTrip.run { trip in
            trip.beforeAnswer { request in
                if request.target == SharedTrip.path(3) { trip.publish([], changes: [SharedTrip.id: "x"]) }
            }
            trip[SharedTrip.path(3)] = nil
            let result = try await trip.mirror(trip.link("vacation.json")).run()
            #expect(result.isComplete == false && result.failed >= 1)
        }
    }
}
