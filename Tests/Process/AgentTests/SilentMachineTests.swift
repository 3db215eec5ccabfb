import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// A machine is gone, and another one of the same user sees to what it has stored.
@Suite struct SilentMachineTests {
    private let home: AgentHome

    /// What a machine has stored that nobody has heard of for five days. Its state folder and its photos are gone.
    init() async throws {
        home = try AgentHome(
            more: """
                tiers: {mode: agent, archive_after_days: 3, minimum_archive_bytes: 0}
                verify: {percent_per_day: 100}
                """)
        for number in 0..<4 { try home.gallery.appending("\(number).jpg").create(SamplePhoto.unique(number)) }
        #expect(try await home.pass().uploaded == 4)
        try age(days: 5)
        try FileManager.default.removeItem(atPath: home.tree.path("state").string)
        for number in 0..<4 { try FileManager.default.removeItem(atPath: photo(number).string) }
        try home.gallery.appending("another.jpg").create(SamplePhoto.unique(9))
    }

    private func photo(_ number: Int) -> FilePath { home.gallery.appending("\(number).jpg") }

    /// Makes all that is stored so much older: the store's own times are in its records.
    private func age(days: Double) throws {
        let time = Date.now.addingTimeInterval(-days * 86_400).formatted(.iso8601)
        for path in try home.store.files(below: "records") {
            var record = try #require(try fields(Data(contentsOf: URL(filePath: path.string))))
            record["modified"] = time
            try JSONSerialization.data(withJSONObject: record).write(to: URL(filePath: path.string))
        }
    }

    private func fields(_ data: Data) throws -> [String: Any]? {
        try JSONSerialization.jsonObject(with: data) as? [String: Any]
    }

    private func classes() throws -> [String: Int] {
        try home.store.photoRecordPaths().reduce(into: [:]) { counts, path in
            let record = try fields(Data(contentsOf: URL(filePath: path.string)))
            counts[record?["storageClass"] as? String ?? "", default: 0] += 1
        }
    }

    private func elsewhere() async throws -> [[String: Any]] {
        try fields(Data(await home.run("status", "--json").output))?["elsewhere"] as? [[String: Any]] ?? []
    }

    @Test func `its objects are verified and moved to the archive by the next pass, once`() async throws {
        let first = try await home.run("sync")
        #expect(
            first.code == 0 && first.complaint.contains("verified for machines that are silent: 4 objects"), "\(first)")
        #expect(first.complaint.contains("moved to the archive for machines that are silent: 4 objects"))
        #expect(try classes() == ["DEEP_ARCHIVE": 4, "STANDARD": 1])
        let second = try await home.run("sync")
        #expect(second.code == 0 && !second.complaint.contains("silent"), "\(second)")
        #expect(try await elsewhere().isEmpty)
    }

    @Test func `that its catalogue is gone is told, and ends no pass and no list with 3`() async throws {
        try home.store.loseCatalog()
        let pass = try await home.run("sync")
        #expect(pass.code == 0 && pass.complaint.contains("is missing from the store"), "\(pass)")
        let shares = try await home.run("shares")
        #expect(shares.code == 0 && shares.complaint.contains("is missing from the store"), "\(shares)")
        let machines = try await home.run("status", "--machines")
        #expect(machines.code == 3 && machines.complaint.contains("is missing from the store"), "\(machines)")
    }

    @Test(arguments: [["--all"], ["--all", "--estimate"]])
    func `a restore of all photos that cannot read its catalogue says so, and ends with 3`(which: [String])
        async throws
    {
        let output = which.contains("--estimate") ? [] : ["--output", home.tree.path("back").string]
        let command = ["restore", "--yes", "--json"] + which + output
        func restored() async throws -> (code: Int32?, complaint: String, problems: [String]?) {
            let finished = try await home.start(command).finished()
            let answer = try fields(Data(finished.output))
            return (finished.code, finished.complaint, answer?["problems"] as? [String])
        }
        let whole = try await restored()
        #expect(whole.code == 0 && whole.problems == [], "\(whole)")
        for segment in try home.store.segments() { try Data("ruin".utf8).write(to: URL(filePath: segment.string)) }
        let lacking = try await restored()
        #expect(lacking.code == 3 && lacking.problems?.isEmpty == false, "\(lacking)")
        #expect(lacking.complaint.contains("not whole") && lacking.complaint.contains("the catalogue of"))
    }

    @Test func `what is damaged is told with its path and machine, ends with 3, and stays in sight until it is mended`()
        async throws
    {
        let object = try #require(try home.store.objects().first)
        let file = home.store.root.appending("objects").pushing(FilePath(object.file))
        try Data("ruin".utf8).write(to: URL(filePath: file.string))
        for _ in 0..<2 {
            let pass = try await home.run("sync")
            #expect(
                pass.code == 3 && pass.text.contains("was silent: what was stored of it is damaged"), "\(pass)")
        }
        #expect(try classes()["DEEP_ARCHIVE"] == 3)
        let told = try await elsewhere()
        #expect(told.count == 1 && told[0]["key"] as? String == object.key)
        let path = try #require(told[0]["path"] as? String)
        #expect(path.hasPrefix(home.gallery.string) && told[0]["machine"] is String)
        #expect(try await home.run("status").text.contains("found while the machine"))
        // Any copy of the photo in a folder of this machine brings it back.
        for number in 0..<4 { try photo(number).create(SamplePhoto.unique(number)) }
        let mended = try await home.run("sync")
        #expect(mended.code == 0, "\(mended)")
        #expect(try await elsewhere().isEmpty && home.store.isSound())
    }
}
