import Foundation
import Glibc
import SyncCore
import SyncDigest
import SyncTestSupport
import SystemPackage

extension AgentHome {
    static let trip = "Paris_France_2024-06-15_2024-06-22"

    /// The path of a photo of the trip.
    func photo(_ number: Int) -> FilePath { vacations.appending(Self.trip).appending("\(number).jpg") }

    /// Puts photos into the trip's folder, and stores them.
    func takeTrip(photos: Int) async throws {
        for number in 0..<photos { try photo(number).create(SamplePhoto.taken(number)) }
        _ = try await pass()
    }

    // MARK: The sharer

    /// Runs `share … --yes --json`, which has to end with `code`.
    func share(_ arguments: String..., code: Int32 = 0) async throws -> ShareAnswer {
        let arguments = arguments.isEmpty ? [Self.trip] : arguments
        return try await answer(["share", "--yes", "--json"] + arguments, code: code)
    }

    func shares() async throws -> [ShareEntry] {
        try await answer(["shares", "--json"], as: ShareListing.self).shares
    }

    /// Lets time pass: a share is over.
    func expireShares() async throws {
        try await changeLedger("UPDATE shares SET expires_at = 1")
    }

    /// Runs SQL on the ledger of an agent that is not at work.
    func changeLedger(_ sql: String) async throws {
        let change =
            "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None); db.execute(sys.argv[2])"
        let ledger = tree.path("state/sync-agent/ledger.sqlite").string
        let finished = try await ChildProcess(
            "/usr/bin/python3", ["-c", change, ledger, sql], environment: environment
        )
        .finished()
        guard finished.code == 0 else { throw UnexpectedEnd(finished: finished) }
    }

    // MARK: The friend

    /// Runs `mirror … --json` into a folder of the home, which has to end with `code`.
    func mirror(
        _ reference: String, to folder: String, _ options: String..., code: Int32 = 0,
        environment: [String: String] = [:]
    ) async throws -> MirrorAnswer {
        try await answer(
            ["mirror", "--json", reference, friendsFolder(folder).string] + options, code: code,
            environment: environment)
    }

    func friendsFolder(_ name: String) -> FilePath { tree.path("home/Friends").appending(name) }

    /// The photos of a mirror, by the SHA-256 of their bytes.
    func mirrored(_ folder: String) throws -> [String: FilePath] {
        try mirrorFiles(folder).filter { $0.hasSuffix(".jpg") && !$0.hasPrefix(".") }.reduce(into: [:]) {
            photos, name in
            let path = friendsFolder(folder).appending(name)
            photos["\(ContentDigest(of: try path.bytes).sha256)"] = path
        }
    }

    /// All files of a mirror, also hidden ones.
    func mirrorFiles(_ folder: String) throws -> [String] {
        guard FileManager.default.fileExists(atPath: friendsFolder(folder).string) else { return [] }
        return try tree.files(below: "home/Friends/\(folder)")
    }

    func answer<Answer: Decodable>(
        _ arguments: [String], as type: Answer.Type = Answer.self, code: Int32 = 0, environment: [String: String] = [:]
    ) async throws -> Answer {
        let finished = try await start(arguments, environment: environment).finished()
        guard finished.code == code else { throw UnexpectedEnd(finished: finished) }
        return try JSONDecoder().decode(Answer.self, from: Data(finished.output))
    }
}
