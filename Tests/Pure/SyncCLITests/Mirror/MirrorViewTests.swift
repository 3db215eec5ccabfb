import FoundationEssentials
import SyncCore
import SystemPackage
import Testing

@testable import SyncCLI
@testable import SyncEngine

@Suite struct MirrorViewTests {
    private static let day = Date(timeIntervalSince1970: 1_767_225_600)

    private func result(_ change: (inout MirrorResult) -> Void) throws -> MirrorResult {
        let id = try #require(ShareID("7d0c6e2a-33b1-4d5e-9c61-0a4b8f2e9d10"))
        var result = MirrorResult(shareID: id, destination: "/home/ana/paris")
        change(&result)
        return result
    }

    private func view(_ result: MirrorResult) -> MirrorView {
        MirrorView(result: result, terminal: .standardError(["TERM": "dumb"]), isPreview: false)
    }

    @Test func `What came, what was there and what was left alone is counted and named`() throws {
        let result = try result { result in
            result.downloaded = ["001.jpg", "002.jpg"]
            result.alreadyThere = 1
            result.kept = [MirrorResult.Kept(name: "003.jpg", reason: .deleted)]
        }
        #expect(
            view(result).lines == [
                "/home/ana/paris: 2 photos downloaded, 1 photo already there, 1 photo left as they are",
                "kept    003.jpg: you deleted it", "To have them as they are in the share, use --force.",
            ])
        #expect(view(result).complaints.isEmpty)
    }

    @Test func `Each failure is named, and an obstacle is told once`() throws {
        let error = StoreError(.badDigest, operation: "get", message: "another was expected\u{1B}[2J")
        let result = try result { result in
            result.failures = [MirrorResult.Failure(name: "001.jpg", error: error)]
            result.obstacle = StoreError(.unreachable, operation: "get", message: "cannot reach https://h.example")
            result.untried = (2...24).map { "\($0).jpg" }
        }
        let complaints = view(result).complaints
        #expect(
            complaints.suffix(2) == [
                "… and 3 more",
                "sync-agent: get: cannot reach https://h.example. 23 photos still to come: the same command goes on",
            ])
        let untried = (2...21).map { "failed  \($0).jpg: not fetched" }
        #expect(complaints.first == "failed  001.jpg: get: another was expected\\u{1b}[2J")
        #expect(Array(complaints.dropFirst().dropLast(2)) == untried)
        let report = MirrorReport(result)
        #expect(report.failed == 24 && report.errors.count == 25 && report.errors.last?.name == nil)
        #expect(report.errors.compactMap(\.name) == ["001.jpg"] + result.untried)
        #expect(report.errors.dropFirst().allSatisfy { $0.error == "get: cannot reach https://h.example" })
    }

    @Test func `No name of the hidden file, and no word of a share, acts on the terminal`() throws {
        let name = "1\u{1B}[2J\r\n.jpg"
        let error = StoreError(.badDigest, operation: "get", message: "m")
        for isEnded in [true, false] {
            let result = try result { result in
                result.downloaded = [name]
                result.kept = [
                    .init(name: name, reason: .changed), .init(name: name, reason: .deleted),
                    .init(name: name, reason: .nameTaken),
                ]
                result.neverFetched = isEnded ? [name] : []
                result.failures = [.init(name: name, error: error)]
                result.unreadable = [.init(name: name, error: error)]
                result.unwritten = [.init(name: name, error: error)]
                result.notes = [name]
                result.end = isEnded ? .gone : nil
            }
            let lines = view(result).lines + view(result).changes + view(result).complaints
            let isClean = lines.allSatisfy { $0.unicodeScalars.allSatisfy { $0.value >= 0x20 } }
            #expect(isClean, "\(lines)")
            let named = lines.filter { $0.contains("1\\u{1b}[2J\\u{d}\\u{a}.jpg") }
            #expect(named.count == (isEnded ? 13 : 8))
        }
    }

    @Test func `A photo that cannot be read is no part of what was not fetched, and a failure`() throws {
        let result = try result { result in
            result.alreadyThere = 2
            result.noteUnreadable("001.jpg", .permissionDenied)
        }
        #expect(view(result).lines == ["/home/ana/paris: 2 photos already there, 1 photo not readable"])
        #expect(
            view(result).complaints == [
                "failed  001.jpg: /home/ana/paris/001.jpg: no permission to read it; change its owner or mode, or move it away"
            ])
        #expect(ExitStatus(result) == .partlyDone && MirrorReport(result).errors.map(\.name) == ["001.jpg"])
    }

    @Test func `A photo in whose place something else is did not come, and one that the person changed did`() throws {
        let taken = MirrorResult.Kept(name: "001.jpg", reason: .nameTaken)
        let some = try result {
            $0.alreadyThere = 2; $0.kept = [taken]
        }
        let none = try result { $0.kept = [taken] }
        let wanted = try result {
            $0.kept = [.init(name: "001.jpg", reason: .changed), .init(name: "002.jpg", reason: .deleted)]
        }
        #expect([some, none, wanted].map { ExitStatus($0) } == [.partlyDone, .failed, .done])
    }

    @Test func `The looks of a watch are one report`() throws {
        let first = MirrorReport(
            try result {
                $0.downloaded = ["001.jpg"]; $0.alreadyThere = 4
            })
        let second = MirrorReport(
            try result {
                $0.downloaded = ["002.jpg"]; $0.alreadyThere = 5
            }, after: first)
        #expect(second.downloaded == 2 && second.alreadyThere == 4)
    }

    @Test func `An end with all photos here is no failure`() throws {
        let complete = try result {
            $0.end = .gone; $0.isComplete = true; $0.alreadyThere = 4
        }
        let part = try result {
            $0.end = .expired(Self.day); $0.alreadyThere = 1; $0.untried = ["1", "2", "3"]
        }
        let nothing = try result {
            $0.end = .expired(Self.day); $0.untried = ["1", "2", "3", "4"]
        }
        #expect(ExitStatus(complete) == .done)
        #expect(ExitStatus(part) == .failed)
        #expect(ExitStatus(nothing) == .noSuchPath)
        let taken = try result {
            $0.end = .gone; $0.kept = [.init(name: "1.jpg", reason: .nameTaken)]
        }
        #expect(ExitStatus(taken) == .noSuchPath)
        let forgotten = try result {
            $0.end = .gone; $0.neverFetched = ["1.jpg"]; $0.hadPhotos = true
        }
        #expect(ExitStatus(forgotten) == .failed)
        #expect(view(complete).lines.last?.hasSuffix("all of it is here and stays.") == true)
        #expect(view(part).lines.last?.hasSuffix("what is here stays.") == true)
        #expect(view(nothing).lines.last?.hasSuffix("nothing of it was fetched.") == true)
        let emptied = try result {
            $0.end = .gone; $0.kept = [.init(name: "1.jpg", reason: .deleted)]
        }
        #expect(ExitStatus(emptied) == .failed)
        #expect(view(emptied).lines[0] == "/home/ana/paris: 1 photo missing")
        #expect(view(emptied).lines[1] == "missing 1.jpg: it was here, and cannot be fetched any more")
        #expect(view(emptied).lines.last?.hasSuffix("nothing of it is here any more.") == true)
        #expect(view(emptied).changes == Array(view(emptied).lines.dropFirst()))
        let late = try result {
            $0.end = .gone; $0.alreadyThere = 1; $0.neverFetched = ["2.jpg"]
            $0.kept = [.init(name: "3.jpg", reason: .nameTaken)]
        }
        #expect(
            view(late).lines == [
                "/home/ana/paris: 1 photo already there, 1 photo missing, 1 photo not fetched",
                "missing 3.jpg: something else has this name",
                "missing 2.jpg: it was not fetched before the share ended",
                "This share was revoked or has expired, or the link to it has ended; what is here stays.",
            ])
        let report = MirrorReport(late)
        #expect(report.failed == 1 && report.errors.map(\.name) == ["2.jpg"])
    }

    @Test func `Of a share that has ended, what the person changed is not told to be here as it was`() throws {
        for (count, words) in [(1, "1 photo as you changed it"), (2, "2 photos as you changed them")] {
            let changed = try result { result in
                result.end = .gone
                result.isComplete = true
                result.alreadyThere = 3
                result.kept = (0..<count).map { MirrorResult.Kept(name: "\($0).jpg", reason: .changed) }
            }
            #expect(ExitStatus(changed) == .done)
            #expect(view(changed).lines.last?.hasSuffix("; all of it is here, \(words), and stays.") == true)
        }
    }

    @Test func `Some failures are a part, failures alone are one`() throws {
        let error = StoreError(.badDigest, operation: "get", message: "m")
        let some = try result {
            $0.failures = [.init(name: "a", error: error)]; $0.alreadyThere = 1
        }
        let all = try result { $0.failures = [.init(name: "a", error: error)] }
        let full = try result {
            $0.obstacle = DownloadError(.noSpace, "/x", "full"); $0.untried = ["b", "c"]
        }
        let fullWithSome = [
            try result {
                $0.obstacle = full.obstacle; $0.untried = ["b"]; $0.downloaded = ["c"]
            },
            try result {
                $0.obstacle = full.obstacle; $0.untried = ["b"]; $0.alreadyThere = 1
            },
        ]
        let away = try result {
            $0.obstacle = StoreError(.timedOut, operation: "get", message: "m"); $0.untried = ["b", "c"]
        }
        #expect(ExitStatus(some) == .partlyDone)
        #expect(ExitStatus(all) == .failed)
        #expect(ExitStatus(full) == .failed)
        #expect(fullWithSome.map { ExitStatus($0) } == [.partlyDone, .partlyDone])
        #expect(ExitStatus(away) == .storeUnreachable)
    }

    @Test func `The line goes by bytes`() {
        var progress = MirrorProgress()
        progress.photos = 4
        progress.photosDone = 1
        progress.size = 8 << 20
        progress.sizeHere = 2 << 20
        #expect(
            progress.text(elapsed: .seconds(2))
                == "[=====               ]  1 of 4 photos  1.0 MiB/s  about 6 s left")
        #expect(MirrorProgress().text(elapsed: .zero) == "[                    ]  0 of 0 photos")
    }
}
