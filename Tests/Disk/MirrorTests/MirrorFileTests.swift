import Glibc
import SyncEngine
import SyncTestSupport
import SystemPackage
import Testing

/// Files of a mirror that cannot be written, or are never finished.
@Suite struct MirrorFileTests {
    private static let names = (1...4).map { "00\($0)_2024-06-15_Paris.jpg" }
    private static let own = [".sync-agent-mirror.json", "vacation.json"]

    @Test(arguments: ["001_2024-06-15_Paris.jpg", ".sync-agent-mirror.json", "vacation.json"])
    func `A file that cannot be written is named, and all others are written`(name: String) async throws {
        try await SharedTrip.run { trip in
            // Where it grows there is a folder already.
            try trip.tree.makeFolder("home/paris/.\(name).sync-agent-part")
            let result = try await trip.mirror().run()
            let isPhoto = name.hasSuffix(".jpg")
            let told = result.failures + result.unwritten
            #expect(told.map(\.name) == [name])
            #expect(told.allSatisfy { "\($0.error)".hasPrefix("\(trip.destination.appending(name)): something has") })
            #expect(result.failed == (isPhoto ? 1 : 0) && result.downloaded.count == (isPhoto ? 3 : 4))
            let names = try trip.names()
            #expect(Set(names) == Set(Self.names + Self.own).subtracting([name]))
            #expect(rmdir(trip.destination.appending(".\(name).sync-agent-part").string) == 0)
            let rest = try await trip.mirror().run()
            #expect(rest.isComplete && rest.unwritten.isEmpty && rest.downloaded == (isPhoto ? [name] : []))
        }
    }

    @Test(.enabled(if: geteuid() == 0, "mounting needs root"))
    func `A full disk is told of the folder, and not of a hidden file in it`() async throws {
        try await SharedTrip.run { trip in
            try trip.tree.makeFolder("home/paris")
            let folder = trip.destination
            let isMounted = "size=64k".withCString { mount("tmpfs", folder.string, "tmpfs", 0, $0) == 0 }
            try #require(isMounted)
            defer { umount2(folder.string, Int32(MNT_DETACH)) }
            try trip.tree.write(String(repeating: "x", count: 65_536), to: "home/paris/mine")
            let error = await #expect(throws: DownloadError.self) { try await trip.mirror().run() }
            #expect(error?.description.hasPrefix("\(folder): the disk is full; ") == true)
            #expect(trip.photoRequests.isEmpty)
        }
    }

    /// A disk that gives nothing of one file: what a process has at its address 0 cannot be read.
    @Test(.enabled(if: geteuid() == 0, "mounting needs root"))
    func `A manifest that cannot be read is not called another's`() async throws {
        try await SharedTrip.run { trip in
            let file = try trip.tree.write("{}", to: "home/paris/vacation.json")
            let isMounted = mount("/proc/self/mem", file.string, nil, UInt(MS_BIND), nil) == 0
            try #require(isMounted)
            defer { umount2(file.string, Int32(MNT_DETACH)) }
            let result = try await trip.mirror().run()
            #expect(result.unwritten.map(\.name) == ["vacation.json"] && result.notes.isEmpty)
            #expect(result.unwritten.allSatisfy { "\($0.error)".contains("the disk reports an error") })
            #expect(result.downloaded.count == 4)
        }
    }

    @Test func `Where no photo fits, each is named, also when what is beside them does not fit either`() async throws {
        try await SharedTrip.run { trip in
            var calls = DownloadCalls()
            let save = calls.save
            calls.write = { _, _, _ in throw Errno.noSpace }
            calls.save = { bytes, path, permissions in
                if path.lastComponent?.string == Self.own[1] { throw Errno.noSpace }
                try save(bytes, path, permissions)
            }
            let full = try await trip.mirror(calls: calls).run()
            #expect(full.untried == Self.names && full.downloaded.isEmpty && full.failures.isEmpty)
            let folder = trip.destination
            #expect("\(try #require(full.obstacle))".hasPrefix("\(folder): the disk is full; "))
            let rest = try await trip.mirror().run()
            #expect(rest.isComplete && rest.downloaded.count == 4)
        }
    }

    /// Of a pipe and of a socket (inode(7)).
    @Test(arguments: [mode_t(0o010600), 0o140600])
    func `What is no file has the name of a photo as a folder has it`(mode: mode_t) async throws {
        try await SharedTrip.run { trip in
            try trip.tree.makeFolder("home/paris")
            #expect(mknod(trip.destination.appending(Self.names[1]).string, mode, 0) == 0)
            let result = try await trip.mirror().run()
            #expect(result.isComplete && result.failed == 0 && result.downloaded.count == 3)
            #expect(result.kept.map(\.name) == [Self.names[1]] && result.kept.map(\.reason) == [.nameTaken])
            let forced = try await trip.mirror(nil, ShareMirror.Options(isForced: true)).run()
            #expect(forced.isComplete && forced.downloaded == [Self.names[1]])
        }
    }

    @Test func `Of a photo that gets no name nothing hidden is left, and the next run fetches it`() async throws {
        try await SharedTrip.run { trip in
            var calls = DownloadCalls()
            calls.link = { (_, _) throws(Errno) in throw .ioError }
            let failed = try await trip.mirror(calls: calls).run()
            #expect(failed.failed == 4)
            let names = try trip.names()
            #expect(names == Self.own)
            calls = DownloadCalls()
            calls.syncFolder = { (_) throws(Errno) in throw .ioError }
            let unsynced = try await trip.mirror(calls: calls).run()
            #expect(unsynced.failed == 4 && unsynced.alreadyThere == 0)
            let rest = try await trip.mirror().run()
            #expect(rest.downloaded.count == 4 && rest.isComplete)
        }
    }

    @Test(arguments: [true, false])
    func `Of a share that has ended no part is kept`(isGone: Bool) async throws {
        try await SharedTrip.run { trip in
            _ = try await trip.mirror(nil, ShareMirror.Options(isPreview: true)).run()
            try trip.tree.write("half", to: "home/paris/.004_2024-06-15_Paris.jpg.sync-agent-part")
            if isGone {
                trip[SharedTrip.folder + "vacation.json"] = nil
                trip[SharedTrip.folder + "index.html"] = WebServer.Answer("<Error/>", status: 403)
            } else {
                trip.publish(trip.photos(4), changes: ["2026-02-01": "2026-01-01"])
            }
            let result = try await trip.mirror().run()
            #expect(result.end != nil)
            let names = try trip.names()
            #expect(names.count == 5 && names.allSatisfy { !$0.hasSuffix(".sync-agent-part") })
        }
    }
}
