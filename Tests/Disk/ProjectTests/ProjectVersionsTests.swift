import Foundation
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct ProjectVersionsTests {
    @Test func `the last images stay reachable, and older ones go`() async throws {
        let bench = try ProjectBench(listing: "a")
        // The store in memory has a clock that stands still: the contents tell versions apart.
        try await bench.storeInTurn((1...8).map { "image \($0)." }, versions: 100)
        #expect(try bench.content("a.jpg") == "image 8.")
        #expect(Set(try bench.versionTexts()) == Set((1...7).map { "image \($0)." }))
        try await bench.storeInTurn(["image 9."], versions: 5)
        #expect(try bench.versionTexts().count == 5)
        #expect(try bench.ledger.projectVersions(of: "a").count == 5)
        #expect(try bench.entries().map(\.versions) == [5])
        #expect(try bench.ledger.check() == [])
    }

    @Test func `a new image takes the place of one of which the store cannot read its own record`() async throws {
        let bench = try ProjectBench(listing: "a")
        try await bench.storeInTurn(["image 1."])
        bench.memory.makeUnreadable(try bench.key("a.jpg"))
        try await bench.storeInTurn(["image 2."])
        #expect(try bench.content("a.jpg") == "image 2." && bench.versionTexts() == [])
        #expect(try bench.status("a.jpg")?.state == .uploaded)
    }

    @Test func `the same image again is no version`() async throws {
        let bench = try ProjectBench(listing: "a")
        try await bench.storeInTurn(["image 1.", "image 1.", "image 2.", "image 2."])
        #expect(try bench.versionTexts() == ["image 1."])
        #expect(bench.store.count(.copy) == 1)
    }

    @Test(
        arguments: [
            StoreFault(.copy, number: 1, .failAfter(.connectionLost)),
            StoreFault(.copy, number: 1, .failBefore(.connectionLost)),
            // A proxy's word: the image is there, and listed.
            StoreFault(.copy, number: 1, .failBefore(.notFound)),
            StoreFault(.put, key: "users/ana/projects/a.jpg", number: 2, .failBefore(.serverFailed)),
            StoreFault(.put, key: "users/ana/projects/a.jpg", number: 2, .failAfter(.connectionLost)),
            StoreFault(.list, number: 1, .failBefore(.serverFailed)),
        ])
    func `what breaks off in the middle is done once`(fault: StoreFault) async throws {
        let bench = try ProjectBench(listing: "a")
        bench.store.add(fault)
        try await bench.storeInTurn(["image 1.", "image 2."])
        try await bench.pass()
        #expect(try bench.content("a.jpg") == "image 2.")
        #expect(try bench.versionTexts() == ["image 1."])
        #expect(try bench.ledger.projectVersions(of: "a").count == 1)
        #expect(try bench.status("a.jpg")?.state == .uploaded)
    }

    @Test func `an image stays stored when another folder, watched in its place, has one of its name`() async throws {
        var bench = try ProjectBench(listing: "a")
        try await bench.storeInTurn(["image 1."])
        try bench.watch("others")
        try bench.list([ProjectBench.record("a")])
        try await bench.storeInTurn(["image 2."], versions: 1)
        try await bench.storeInTurn(["image 3."], versions: 1)
        try bench.watch("projects")
        try await bench.pass()
        let status = try #require(try bench.status("a.jpg"))
        #expect(status.state == .uploaded)
        let key = try #require(status.key)
        #expect(bench.text(key) == "image 1.")
        #expect(try bench.content("a.jpg") == "image 3.")
        #expect(try bench.ledger.check() == [])
    }

    @Test func `an image in whose place another machine has put its own is stored as the version that was made of it`()
        async throws
    {
        let bench = try ProjectBench(listing: "a")
        try await bench.storeInTurn(["image 1."])
        let other = try ProjectBench(listing: "a", in: bench.memory)
        try await other.storeInTurn(["image 2."])
        bench.clock.jump(.seconds(60))
        let result = try await Verifier(
            store: bench.store, ledger: bench.queue, cost: VerificationCost(prices: nil), time: bench.clock.source
        ).run(.percent(100), costingAtMost: nil)
        #expect(try !result.broken.map(\.key).contains(bench.key("a.jpg")))
        let status = try #require(try bench.status("a.jpg"))
        let key = try #require(status.key)
        #expect(status.state == .uploaded && bench.text(key) == "image 1.")
        try await bench.pass()
        #expect(try bench.content("a.jpg") == "image 2.")
        #expect(try bench.versionTexts() == ["image 1."])
        // Without that version it is stored again, and the other one is kept.
        bench.memory.lose(try #require(status.key))
        try await bench.refresh()
        try await bench.pass()
        #expect(try bench.content("a.jpg") == "image 1.")
        #expect(try bench.versionTexts() == ["image 2."])
        #expect(try bench.ledger.check() == [])
    }

    @Test func `earlier metadata stays as a version, whoever has stored it`() async throws {
        let bench = try ProjectBench(listing: "a")
        try bench.write("image 1.", to: "a.jpg")
        for text in ["{}", #"{"by": "us"}"#] {
            try bench.write(text, to: "a-metadata.json")
            try await bench.pass()
        }
        #expect(try bench.versionTexts() == ["{}"])
        let other = try ProjectBench(listing: "a", in: bench.memory)
        try other.write("image 1.", to: "a.jpg")
        try other.write(#"{"by": "another"}"#, to: "a-metadata.json")
        try await other.pass()
        #expect(try other.content("a-metadata.json") == #"{"by": "another"}"#)
        #expect(try Set(other.versionTexts()) == ["{}", #"{"by": "us"}"#])
        // It is no image.
        #expect(try other.ledger.projectVersions(of: "a").isEmpty)
        #expect(try other.ledger.check() == [])
        let targets = try await other.makeRemover().find("a", in: [other.folder])
        #expect(try await other.makeRemover().remove(targets).map(\.failures) == [[]])
        #expect(other.stored.filter { $0.hasPrefix("a") } == [])
    }

    @Test func `after a rebuild, what another machine has put in the place of ours stays as a version`() async throws {
        let bench = try ProjectBench(listing: "a")
        let other = try ProjectBench(listing: "a", in: bench.memory)
        try await other.storeInTurn(["image another."])
        try bench.write("image 1.", to: "a.jpg")
        // What our catalogue tells, of a time when ours was there.
        let stamp = try FileStamp(of: bench.folder.appending("a.jpg"))
        let digest = ContentDigest(of: Array("image 1.".utf8))
        let key = try bench.key("a.jpg")
        let found = try await bench.memory.list(prefix: key.rawValue, after: nil, limit: 1).objects
        try bench.ledger.noteListed(found, keys: KeyLayout(user: "ana"), tellsRestores: false, at: bench.clock.now)
        let folder = try bench.ledger.folderForCatalog(.projects, at: bench.folder, of: .thisMachine)
        try bench.ledger.noteCatalog(
            [
                CatalogPhoto(
                    place: CatalogPlace(folder: 1, path: "a.jpg"),
                    file: CatalogPhoto.File(size: stamp.size, modified: stamp.modified), md5: digest.md5, key: key,
                    sha256: digest.sha256, size: stamp.size, contentType: "image/jpeg")
            ], in: [1: folder], at: bench.clock.now)
        try await bench.pass()
        #expect(try bench.status("a.jpg")?.state == .uploaded)
        #expect(try bench.content("a.jpg") == "image 1.")
        #expect(try bench.versionTexts() == ["image another."])
        #expect(try bench.ledger.check() == [])
    }

    @Test func `an object of which a digest is not known is damaged when it was stored as the copy of another file`()
        async throws
    {
        let bench = try ProjectBench(listing: "a")
        try await bench.storeInTurn(["image 1."])
        var known = try #require(try bench.ledger.object(try bench.key("a.jpg")))
        known.sha256 = nil
        let examiner = ObjectExaminer(bench.memory)
        guard case .intact = try await examiner.examine(known, reading: .always) else {
            Issue.record("it is its own copy")
            return
        }
        known.md5 = ContentDigest(of: Array("image 2.".utf8)).md5
        let verdict = try await examiner.examine(known, reading: .always)
        #expect(verdict == .broken(.damaged("it was stored as the copy of another file")))
    }

    @Test func `metadata that a rebuild has found of another machine stays as a version, too`() async throws {
        let (bench, name) = (try ProjectBench(listing: "a"), "a-metadata.json")
        let other = try ProjectBench(listing: "a", in: bench.memory)
        try other.write("image 1.", to: "a.jpg")
        try other.write(#"{"by": "another"}"#, to: name)
        try await other.pass()
        let stored = try #require(try other.ledger.object(try other.key(name)))
        let found = try await bench.memory.list(prefix: stored.key.rawValue, after: nil, limit: 1).objects
        try bench.ledger.noteListed(
            found, keys: KeyLayout(user: "ana"), tellsRestores: false, at: bench.clock.now)
        let folder = try bench.ledger.folderForCatalog(.projects, at: "/machines/b/projects", of: .machine("b"))
        try bench.ledger.noteCatalog(
            [
                CatalogPhoto(
                    place: CatalogPlace(folder: 1, path: FilePath(name)), file: nil, md5: stored.md5, key: stored.key,
                    sha256: stored.sha256, size: stored.size, contentType: stored.contentType)
            ], in: [1: folder], at: bench.clock.now)
        #expect(try bench.ledger.object(stored.key)?.md5 == stored.md5)
        try bench.write("image 1.", to: "a.jpg")
        try bench.write(#"{"by": "us"}"#, to: name)
        try await bench.pass()
        #expect(try bench.content(name) == #"{"by": "us"}"#)
        #expect(try bench.versionTexts() == [#"{"by": "another"}"#])
    }

    @Test func `an archived image is never overwritten: the new one is stored beside it, and that is told`()
        async throws
    {
        let bench = try ProjectBench(listing: "a")
        try await bench.storeInTurn(["image 1."])
        bench.memory.setClass(.deepArchive, of: try bench.key("a.jpg"))
        try await bench.storeInTurn(["image 2."])
        #expect(try bench.content("a.jpg") == "image 1.")
        #expect(try bench.versionTexts() == ["image 2."])
        let status = try #require(try bench.status("a.jpg"))
        #expect(status.state == .uploaded)
        #expect(status.key?.rawValue.contains("/a/versions/") == true)
        #expect(bench.words.all.contains { $0.contains("archived and is not overwritten") })
    }

    @Test func `an image beside an archived one stays, however old its file is`() async throws {
        let bench = try ProjectBench(listing: "a")
        try await bench.storeInTurn(["image 1."], versions: 1)
        bench.memory.setClass(.deepArchive, of: try bench.key("a.jpg"))
        for number in 2...5 {
            try bench.write("image \(number).", to: "a.jpg")
            try bench.tree.age("projects/a.jpg", bySeconds: number * 1_000_000)
            bench.clock.jump(.seconds(5))
            try await bench.pass(versions: 1)
            let status = try #require(try bench.status("a.jpg"))
            #expect(status.state == .uploaded)
            let key = try #require(status.key)
            #expect(bench.memory.content(key).map { String(decoding: $0, as: UTF8.self) } == "image \(number).")
        }
        // The last, and the one before, which the file was stored as until then.
        #expect(Set(try bench.versionTexts()) == ["image 4.", "image 5."])
    }

    @Test func `an archived version is not removed`() async throws {
        let bench = try ProjectBench(listing: "a")
        try await bench.storeInTurn(["image 1.", "image 2."], versions: 1)
        let first = try #require(bench.stored.first { $0.hasPrefix("a/versions/") })
        bench.memory.setClass(.deepArchive, of: try ObjectKey("users/ana/projects/\(first)"))
        try await bench.storeInTurn(["image 3.", "image 4."], versions: 1)
        #expect(try bench.versionTexts().contains("image 1."))
        #expect(try bench.versionTexts().count == 2)
    }

    @Test func `a restored image is kept and replaced like any other`() async throws {
        let bench = try ProjectBench(listing: "a")
        try await bench.storeInTurn(["image 1."])
        bench.memory.setClass(.glacier, restore: .restored(until: .distantFuture), of: try bench.key("a.jpg"))
        try await bench.storeInTurn(["image 2."])
        #expect(try bench.content("a.jpg") == "image 2.")
        #expect(try bench.versionTexts().count == 1)
    }

    @Test(
        arguments: [true, false])
    func `an earlier image that was put back stays stored when the store loses or damages it`(isLost: Bool)
        async throws
    {
        let bench = try ProjectBench(listing: "a")
        try await bench.storeInTurn(["image 1.", "image 2.", "image 1."])
        let status = try #require(try bench.status("a.jpg"))
        let key = try #require(status.key)
        #expect(status.state == .uploaded && bench.text(key) == "image 1.")
        if isLost {
            try await bench.memory.delete(key)
        } else {
            bench.memory.damage(key)
        }
        bench.clock.jump(.seconds(60))
        let result = try await Verifier(
            store: bench.store, ledger: bench.queue, cost: VerificationCost(prices: nil), time: bench.clock.source
        ).run(.percent(100), costingAtMost: nil)
        // What was made of it when it was replaced is whole; what is damaged is mended where it is.
        let (broken, state): ([ObjectKey], PhotoState) = isLost ? ([], .uploaded) : ([key], .pending)
        #expect(result.broken.map(\.key) == broken && result.broken.allSatisfy(\.problem.isDamage))
        #expect(try bench.status("a.jpg")?.state == state)
        try await bench.pass()
        let mended = try #require(try bench.status("a.jpg"))
        #expect(mended.state == .uploaded)
        #expect(bench.text(try #require(mended.key)) == "image 1.")
        // The image in between is not harmed.
        #expect(try bench.stored.compactMap { try bench.content($0) }.contains("image 2."))
        #expect(try bench.ledger.overview().lost == 0)
        #expect(try bench.ledger.check() == [])
    }

    @Test func `a file that somebody has put into the folder of versions is none of them, and stays`() async throws {
        let bench = try ProjectBench(listing: "a")
        try bench.write("image of mine.", to: "a/versions/1.jpg")
        try await bench.storeInTurn(["image 1."], versions: 1)
        try FileManager.default.removeItem(atPath: bench.tree.path("projects/a/versions/1.jpg").string)
        try await bench.storeInTurn(["image 2.", "image 3.", "image 4."], versions: 1)
        #expect(try bench.content("a/versions/1.jpg") == "image of mine.")
        #expect(try bench.status("a/versions/1.jpg")?.state == .missing)
        #expect(try bench.versionTexts().count == 2)
    }

    @Test func `an old version that cannot be removed holds nothing up, and goes next time`() async throws {
        let bench = try ProjectBench(listing: "a")
        bench.store.add(StoreFault(.deleteMany, number: 1, .failBefore(.serverFailed)))
        try await bench.storeInTurn(["image 1.", "image 2.", "image 3."], versions: 1)
        #expect(try bench.versionTexts().count == 2)
        #expect(bench.words.all.contains { $0.contains("stay for now") })
        try await bench.storeInTurn(["image 4."], versions: 1)
        #expect(try bench.versionTexts().count == 1)
    }
}
