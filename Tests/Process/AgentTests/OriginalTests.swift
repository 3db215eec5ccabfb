import Foundation
import Glibc
import SyncCore
import SyncDigest
import SyncTestSupport
import SystemPackage
import Testing

/// Originals, kept bit for bit by the program: they come back as they were, whatever became of the disk or of a copy.
struct OriginalTests {
    private typealias Fields = [String: Any]

    private static func lines(_ policy: OriginalsPolicy, archiving: Bool = true) -> String {
        "photos: {max_dimension: 100, keep_originals: \(policy.rawValue)}"
            + (archiving ? "\n" + AgentHome.archivesAtOnce : "")
    }

    private func answer(_ home: AgentHome, _ arguments: String..., code: Int32 = 0) async throws -> Fields {
        try await answer(home, arguments, code: code)
    }

    private func answer(_ home: AgentHome, _ arguments: [String], code: Int32 = 0) async throws -> Fields {
        let finished = try await home.start(arguments).finished()
        guard finished.code == code else { throw UnexpectedEnd(finished: finished) }
        return try #require(try JSONSerialization.jsonObject(with: Data(finished.output)) as? Fields)
    }

    private static func digest(_ bytes: [UInt8]) -> String { "\(ContentDigest(of: bytes).sha256)" }

    /// Photos that are reduced, one of them under two names, and a picture that is stored as it is.
    private func fill(_ home: AgentHome) throws -> [FilePath: String] {
        var photos: [FilePath: String] = [:]
        func add(_ name: String, _ bytes: [UInt8]) throws {
            let path = home.gallery.pushing(FilePath(name))
            photos[path] = Self.digest(bytes)
            try path.create(bytes)
        }
        for number in 0..<3 { try add("2024/\(number).jpg", SamplePhoto.taken(number)) }
        try add("again.jpg", SamplePhoto.taken(0))
        try add("small.jpg", SamplePhoto.fixture("size-17x33.jpg"))
        return photos
    }

    private func restored(_ home: AgentHome, _ arguments: String...) async throws -> [FilePath: String] {
        let output = home.tree.path("back")
        try? FileManager.default.removeItem(atPath: output.string)
        let finished = try await home.start(["restore", "--yes", "--wait", "--output", output.string] + arguments)
            .finished()
        guard finished.code == 0 else { throw UnexpectedEnd(finished: finished) }
        let names = try FileManager.default.subpathsOfDirectory(atPath: output.string)
        return names.reduce(into: [:]) { files, name in
            // Of a folder there is none.
            let bytes = try? Data(contentsOf: URL(filePath: output.pushing(FilePath(name)).string))
            files[FilePath(name)] = bytes.map { Self.digest(Array($0)) }
        }
    }

    private func remove(_ path: FilePath) throws { try FileManager.default.removeItem(atPath: path.string) }

    private func originals(_ home: AgentHome) throws -> [StoreFolder.Object] {
        try home.store.objects().filter { $0.key.hasPrefix("users/ana/originals/") }
    }

    /// Pixels of the only photo that others see.
    private func sharedWidth(_ home: AgentHome) async throws -> Int? {
        let share = try await home.share("--quality", "full", AgentHome.trip)
        let folder = "shares/\(try #require(share.shareId))/"
        let manifest = try #require(
            try home.store.objects().first { $0.key.hasPrefix(folder) && $0.key.hasSuffix(".json") })
        let fields = try JSONSerialization.jsonObject(with: Data(home.store.bytes(of: manifest))) as? Fields
        return (fields?["photos"] as? [Fields])?.first?["width"] as? Int
    }

    @Test(arguments: [(OriginalsPolicy.on, 200), (.jxl, 200), (.off, 100)])
    func `in full quality, a photo that only the store has is shared as it was where its original is kept`(
        policy: OriginalsPolicy, width: Int
    ) async throws {
        let home = try await homeOfStoredPhoto(policy)
        #expect(try await sharedWidth(home) == width)
    }

    /// Of a vacation whose only photo is in the store alone.
    private func homeOfStoredPhoto(_ policy: OriginalsPolicy) async throws -> AgentHome {
        let home = try AgentHome(more: Self.lines(policy, archiving: false))
        // An empty folder of vacations would pass for a drive that is not mounted.
        try home.vacations.appending("Zoo_2024-05-01").appending("0.jpg").create(SamplePhoto.taken(50))
        try home.photo(0).create(SamplePhoto.taken(0))
        _ = try await home.pass()
        try remove(home.photo(0))
        return home
    }

    /// Pixels of the only photo of an export.
    private func exportedWidth(_ home: AgentHome) async throws -> Int? {
        let place = try home.tree.makeFolder("usb").appending("Paris")
        let made = try await home.run("share", AgentHome.trip, "--export", place.string, "--quality", "full")
        #expect(made.code == 0, "\(made.complaint)")
        let photo = try #require(try home.tree.files(below: "usb/Paris/photos").first)
        return JPEGExtent(try home.tree.read("usb/Paris/photos/\(photo)")).width
    }

    @Test(arguments: [(OriginalsPolicy.on, 200), (.jxl, 200), (.off, 100)])
    func `in full quality, a photo that only the store has is exported as it was where its original is kept`(
        policy: OriginalsPolicy, width: Int
    ) async throws {
        let home = try await homeOfStoredPhoto(policy)
        #expect(try await exportedWidth(home) == width)
    }

    @Test func `an original that the store has lost or damaged costs the share nothing but its size`() async throws {
        let home = try AgentHome(more: Self.lines(.on, archiving: false))
        try home.vacations.appending("Zoo_2024-05-01").appending("0.jpg").create(SamplePhoto.taken(50))
        try home.photo(0).create(SamplePhoto.taken(0))
        _ = try await home.pass()
        try remove(home.photo(0))
        for original in try originals(home) {
            try remove(home.store.root.appending("objects").pushing(FilePath(original.file)))
        }
        #expect(try await sharedWidth(home) == 100)
        #expect(try await exportedWidth(home) == 100)
    }

    @Test(arguments: [OriginalsPolicy.on, .jxl])
    func `what was reduced comes back byte for byte, after the disk is gone, too`(policy: OriginalsPolicy) async throws
    {
        let home = try AgentHome(restoring: 0, more: Self.lines(policy))
        let photos = try fill(home)
        #expect(try await answer(home, "sync", "--json")["originals"] as? Int == 3)
        #expect(try await answer(home, "sync", "--json")["originals"] as? Int == 0)
        let status = try #require(try await answer(home, "status", "--json")["originals"] as? Fields)
        #expect(status["kept"] as? Int == 3 && status["waiting"] as? Int == 0)
        #expect(try originals(home).count == 3)

        let expected = Dictionary(
            uniqueKeysWithValues: photos.map { path, bytes in
                (
                    FilePath("Gallery").pushing(FilePath(String(path.string.dropFirst(home.gallery.string.count + 1)))),
                    bytes
                )
            })
        let back = try await restored(home, "--original", home.gallery.string)
        #expect(back == expected)
        for folder in [home.tree.path("state"), home.gallery] { try remove(folder) }
        _ = try home.tree.makeFolder("home/Gallery")
        let rebuilt = try await answer(home, "rebuild", "--json")
        #expect(rebuilt["photos"] as? Int == 5 && rebuilt["recovered"] as? Int == 0)
        #expect(try await restored(home, "--original", "--all") == expected)
        let copies = try await restored(home, "--all")
        #expect(Set(copies.keys) == Set(expected.keys) && copies != expected)
    }

    @Test func `an original that is gone or damaged is kept again from its file`() async throws {
        let home = try AgentHome(more: Self.lines(.on, archiving: false))
        _ = try fill(home)
        _ = try await home.pass()
        let before = try originals(home)
        let file = home.store.root.appending("objects").pushing(FilePath(before[0].file))
        try Data("ruin".utf8).write(to: URL(filePath: file.string))
        let verified = try await answer(home, "verify", "--all", "--json", code: 3)
        #expect((verified["damaged"] as? [Fields])?.compactMap { $0["key"] as? String } == [before[0].key])
        #expect(verified["repaired"] as? Int == 1)
        #expect(try home.store.isSound())
        #expect(try originals(home).map(\.sha256) == before.map(\.sha256))
        #expect(try await answer(home, "verify", home.gallery.string, "--json")["checked"] as? Int == 7)
    }

    private enum RecordDamage: CaseIterable {
        case empty, cut, anotherObjects
    }

    @Test(arguments: RecordDamage.allCases)
    private func `an original whose record in the store cannot be read is kept again by the next pass`(
        damage: RecordDamage
    ) async throws {
        let home = try AgentHome(more: Self.lines(.on, archiving: false))
        _ = try fill(home)
        _ = try await home.pass()
        let before = try originals(home)
        let records = try home.store.recordPaths().filter { $0.string.contains("/originals/") }.map(\.string)
        let record = URL(filePath: try #require(records.first))
        switch damage {
        case .empty: try Data().write(to: record)
        case .cut: try Data(contentsOf: record).prefix(100).write(to: record)
        case .anotherObjects: try Data(contentsOf: URL(filePath: records[1])).write(to: record)
        }
        #expect(try await answer(home, "sync", "--json")["originals"] as? Int == 1)
        #expect(try originals(home).map(\.sha256) == before.map(\.sha256))
        #expect(try home.store.isSound())
        #expect((try await answer(home, "verify", "--all", "--json")["damaged"] as? [Fields])?.isEmpty == true)
        try Data().write(to: record)
        let verified = try await answer(home, "verify", "--all", "--json", code: 3)
        let reasons = (verified["damaged"] as? [Fields])?.compactMap { $0["reason"] as? String }
        #expect(reasons == ["what the store has noted of it cannot be read"])
        #expect(verified["repaired"] as? Int == 1)
    }

    @Test func `a pass that could not keep originals ends with 3, and the next one keeps them`() async throws {
        try await ScriptedS3Server.run { server in
            let home = try AgentHome(over: server, tiers: "photos: {max_dimension: 100}")
            _ = try fill(home)
            _ = try await home.pass()
            try home.configure(
                try String(contentsOfFile: home.tree.path("config.yaml").string, encoding: .utf8)
                    .replacing("max_dimension: 100", with: "max_dimension: 100, keep_originals: true"))
            server.script(
                .answer(ScriptedAnswer(400, "InvalidRequest")), on: .putObject, numbers: 1...99)
            let pass = try await home.run("sync")
            #expect(pass.code == 3, "\(pass.complaint)")
            let words = String(decoding: pass.output, as: UTF8.self)
            #expect(words.contains("4 originals not kept yet"), "\(words)")
            server.clearScript()
            #expect(try await answer(home, "sync", "--json")["originals"] as? Int == 3)
        }
    }

    @Test func `a pass in which the store fills up tells what it has kept, and what is not kept and why`() async throws
    {
        try await ScriptedS3Server.run { server in
            let home = try AgentHome(over: server, tiers: "photos: {max_dimension: 100}")
            _ = try fill(home)
            _ = try await home.pass()
            try home.configure(
                try String(contentsOfFile: home.tree.path("config.yaml").string, encoding: .utf8)
                    .replacing("max_dimension: 100", with: "max_dimension: 100, keep_originals: true"))
            let refused = try ContentDigest(of: SamplePhoto.taken(1)).md5
            server.script(
                .answer(ScriptedAnswer(507, "XMinioStorageFull")), on: .putObject,
                key: "users/ana/originals/\(refused).dat", numbers: 1...99)
            let pass = try await answer(home, "sync", "--json", code: 3)
            // How many are under way when the store says it is for the scheduler to say.
            let kept = server.keys.count { $0.hasPrefix("users/ana/originals/") }
            #expect(kept < 3 && pass["originals"] as? Int == kept)
            let problems = (pass["problems"] as? [Fields])?.compactMap { $0["message"] as? String } ?? []
            #expect(problems.contains { $0.contains("not kept yet") && $0.contains("no space left") }, "\(problems)")
            let check = try await home.run("status", "--check")
            #expect(check.code == 1 && String(decoding: check.output, as: UTF8.self).contains("not kept"), "\(check)")
            server.clearScript()
            #expect(try await answer(home, "sync", "--json")["originals"] as? Int == 3 - kept)
            let after = try await home.run("status", "--check")
            #expect(!String(decoding: after.output, as: UTF8.self).contains("not kept"), "\(after)")
        }
    }

    @Test(arguments: [OriginalsPolicy.on, .jxl])
    func `a photo whose file is gone and whose copy is damaged has it made anew from its original by the next pass`(
        policy: OriginalsPolicy
    ) async throws {
        let home = try AgentHome(more: Self.lines(policy, archiving: false))
        let photos = try fill(home)
        _ = try await home.pass()
        let path = home.gallery.appending("2024/1.jpg")
        let key = try #require(try await home.photo(path)?.key)
        let copy = try #require(try home.store.objects().first { $0.key == key })
        let before = try Self.digest(Array(home.store.bytes(of: copy)))
        try Data("ruin".utf8).write(
            to: URL(filePath: home.store.root.appending("objects").pushing(FilePath(copy.file)).string))
        try remove(path)
        _ = try await answer(home, "sync", "--json")
        _ = try await answer(home, "verify", "--all", "--json")
        #expect(try await home.run("status", "--check").code == 0)
        #expect(try await home.photo(path)?.state == "missing")
        #expect(try await restored(home, path.string) == ["1.jpg": before])
        #expect(try await restored(home, "--original", path.string) == ["1.jpg": try #require(photos[path])])
    }

    @Test func `a library of before gets its originals, and what is not kept is said`() async throws {
        let home = try AgentHome()
        try home.configure(
            try String(contentsOfFile: home.tree.path("config.yaml").string, encoding: .utf8)
                + "photos: {max_dimension: 100}")
        let photos = try fill(home)
        _ = try await home.pass()
        let one = home.gallery.appending("2024/1.jpg")
        let refused = try await home.run("restore", "--original", "--output", home.tree.path("back").string, one.string)
        #expect(refused.code == 66 && refused.complaint.contains("keep_originals"), "\(refused)")
        try home.configure(
            try String(contentsOfFile: home.tree.path("config.yaml").string, encoding: .utf8)
                .replacing("max_dimension: 100", with: "max_dimension: 100, keep_originals: true"))
        let status = try #require(try await answer(home, "status", "--json")["originals"] as? Fields)
        #expect(status["waiting"] as? Int == 4)
        #expect(try await answer(home, "sync", "--json")["originals"] as? Int == 3)
        #expect(try await restored(home, "--original", one.string) == ["1.jpg": try #require(photos[one])])
    }

    @Test func `what comes as its copy in place of its original is counted, and each says so`() async throws {
        let home = try AgentHome(more: Self.lines(.off, archiving: false))
        _ = try fill(home)
        _ = try await home.pass()
        let gone = home.gallery.appending("2024/1.jpg")
        try remove(gone)
        try home.configure(
            try String(contentsOfFile: home.tree.path("config.yaml").string, encoding: .utf8)
                .replacing("keep_originals: false", with: "keep_originals: true"))
        #expect(try await answer(home, "sync", "--json")["originals"] as? Int == 2)

        let order = ["restore", "--original", "--all", "--yes", "--output"]
        let report = try await answer(home, order + [home.tree.path("back").string, "--json"])
        let items = try #require(report["items"] as? [Fields])
        let noted = items.filter { ($0["note"] as? String)?.contains("the stored copy") == true }
        #expect(items.count == 4 && noted.compactMap { $0["path"] as? String } == [gone.string])

        let told = try await home.start(order + [home.tree.path("again").string]).finished()
        #expect(told.code == 0, "\(told.complaint)")
        #expect(told.text.contains("1 photo comes as its stored copy"), "\(told.text)")
        #expect(told.text.contains("1 photo: the stored copy, since"), "\(told.text)")
        let place = home.tree.path("copies").string
        let plain = try await answer(home, "restore", "--all", "--yes", "--output", place, "--json")
        #expect((plain["items"] as? [Fields])?.allSatisfy { $0["note"] is NSNull } == true)
    }

    @Test(arguments: [OriginalsPolicy.on, .off])
    func `originals that are kept are archived by their own setting, also when no more are kept`(
        policy: OriginalsPolicy
    ) async throws {
        let home = try AgentHome(
            more: Self.lines(policy, archiving: false) + "\ntiers: {archive_after_days: 90, originals_after_days: 7}")
        let rules = try #require(try await answer(home, "lifecycle", "show", "--json")["rules"] as? [Fields])
        let rule = rules.first { $0["prefix"] as? String == "users/ana/originals/" }
        #expect(rule?["days"] as? Int == 7)
    }

    @Test func `a picture that is stored as it is, with a note, comes back under its name, as itself`() async throws {
        let home = try AgentHome(more: "photos: {keep_originals: jxl}")
        let raw = home.gallery.appending("raw.dng")
        let bytes = try SamplePhoto.fixture("kinds/preview.dng")
        try raw.create(bytes)
        _ = try await home.pass()
        #expect(try await home.photo(raw)?.note?.contains("stored as it is") == true)
        #expect(try originals(home).isEmpty)
        #expect(try await restored(home, raw.string) == ["raw.dng": Self.digest(bytes)])
        #expect(try await restored(home, "--original", raw.string) == ["raw.dng": Self.digest(bytes)])
    }

    @Test func `to forget a photo deletes its original, once no other name needs it`() async throws {
        let home = try AgentHome(more: Self.lines(.on, archiving: false))
        _ = try fill(home)
        _ = try await home.pass()
        try remove(home.gallery.appending("again.jpg"))
        _ = try await answer(home, "forget", "--yes", "--json", home.gallery.appending("again.jpg").string)
        #expect(try originals(home).count == 3)
        try remove(home.gallery.appending("2024/0.jpg"))
        _ = try await answer(home, "forget", "--yes", "--json", home.gallery.appending("2024/0.jpg").string)
        #expect(try originals(home).count == 2)
        #expect(try await answer(home, "sync", "--json")["originals"] as? Int == 0)
    }

    @Test func `a kill at any moment leaves each original whole or absent, and the next pass keeps the rest`()
        async throws
    {
        let home = try AgentHome(more: Self.lines(.jxl, archiving: false))
        _ = try fill(home)
        // So many objects are stored by then: from the start, over the copies, to the originals.
        for count in [0, 1, 3, 5, 6] {
            let pass = try home.start(["sync"])
            try await eventually("\(count) objects") {
                try pass.progress.value.isOver || home.store.recordPaths().count >= count ? () : nil
            }
            pass.send(SIGKILL)
            _ = try await pass.finished()
            #expect(try home.store.isSound())
        }
        // One that was decoded at several of the kills is set aside, until somebody asks for it. Nothing else ends a pass so.
        let next = try await home.run("sync")
        let failed = try await home.photos(at: home.gallery).filter { $0.state == "failed" }
        #expect(next.code == (failed.isEmpty ? 0 : 3), "\(next)")
        #expect(failed.allSatisfy { $0.error?.contains("was ended twice") == true }, "\(failed)")
        if !failed.isEmpty { #expect(try await home.run("retry").code == 0) }
        _ = try await answer(home, "sync", "--json")
        #expect(try originals(home).count == 3)
        let status = try #require(try await answer(home, "status", "--json")["originals"] as? Fields)
        #expect(status["waiting"] as? Int == 0)
    }

    @Test func `the agent keeps originals when nothing else waits`() async throws {
        let home = try AgentHome(more: Self.lines(.on, archiving: false))
        _ = try fill(home)
        let agent = try await home.startAgent()
        try await agent.logged { $0.contains("kept: 3 originals") }
        agent.send(SIGTERM)
        #expect(try await agent.finished().code == 0)
        #expect(try originals(home).count == 3)
    }
}
