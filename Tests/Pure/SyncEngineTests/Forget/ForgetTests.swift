import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// What goes when photos are forgotten for good, and what stays.
@Suite struct ForgetTests {
    private let forget: ForgetBench
    private let path = Bench.gallery.appending("a.jpg")
    private let other = Bench.gallery.appending("b.jpg")

    private static let events =
        #"[{"id":"e1","userId":"u","profileId":"p","eventType":"taskResponse","createdAt":1760948130,"#
        + #""photoData":"\#(Data("beach".utf8).base64EncodedString())"}]"#

    private var bench: Bench { forget.bench }

    init() throws {
        forget = try ForgetBench()
        bench.disk.write("sunset", to: path)
        bench.disk.write("moon", to: other)
    }

    /// Stored, and then taken off the disk.
    private func lose(_ gone: FilePath...) async throws {
        try await bench.pass()
        gone.forEach(bench.disk.remove)
        try await bench.pass()
    }

    @Test func `a photo whose file is gone is forgotten, and its object deleted`() async throws {
        try await lose(path)
        let (plan, result) = try await forget.forget(path)
        #expect(plan.photos.map(\.path) == [path] && plan.bytes == 6)
        #expect(result.deleted.map(\.key) == [try ForgetBench.key("sunset")] && result.failures.isEmpty)
        #expect(try !forget.isStored("sunset"))
        #expect(try forget.isStored("moon"))
        #expect(try bench.status(path) == nil)
        #expect(try bench.ledger.object(try ForgetBench.key("sunset")) == nil)
        #expect(try bench.ledger.openDeletions().isEmpty)
        #expect(try bench.ledger.check() == [])
    }

    @Test func `one whose file is here is refused, and nothing of it changes`() async throws {
        try await bench.pass()
        let plan = try await forget.plan(path)
        #expect(plan.photos.isEmpty && plan.refused.map(\.refusal) == [.stillHere])
        #expect(try await forget.plan(path, onlyGone: true).refused.isEmpty)
        try await forget.forget(Bench.gallery)
        #expect(try forget.isStored("sunset"))
        #expect(try bench.status(path)?.state == .uploaded)
    }

    @Test func `what cannot be looked at is not gone`() async throws {
        try await lose(path, other)
        bench.disk.setUnseen(other)
        #expect(try await forget.plan(other).refused.map(\.refusal) == [.unseen("I/O error")])
        #expect(try await forget.plan(other, onlyGone: true).refused.count == 1)
        bench.disk.setUnreadable(Bench.gallery.appending("2024"))
        let refusals = try await forget.plan(path).refused.map(\.refusal)
        let away = try #require(refusals.first)
        guard case .away(let reason) = away else {
            Issue.record("\(away)")
            return
        }
        #expect(reason.contains("2024 cannot be read") && !reason.contains("is empty"))
    }

    @Test func `a file of gallery events is left to the cleanup, before it and after it`() async throws {
        let file = Bench.gallery.appending("events.json")
        bench.disk.write(Self.events, to: file)
        try await lose(file)
        #expect(try await forget.plan(file, onlyGone: true).refused.isEmpty)
        #expect(try await forget.plan(file).refused.map(\.refusal) == [.events(areArchived: false)])
        let event = try #require(try bench.ledger.event("e1"))
        try bench.ledger.signOff(
            [ArchivedEvent(event: event, profile: "p", object: event.object)], user: "ana", at: bench.time.now)
        let plans = (try await forget.plan(file, onlyGone: true), try await forget.plan(file))
        #expect(plans.0.photos.isEmpty && plans.0.refused.isEmpty)
        #expect(plans.1.photos.isEmpty && plans.1.refused.map(\.refusal) == [.events(areArchived: true)])
    }

    @Test func `a gallery that the cleanup has emptied has no photo that anybody misses`() async throws {
        let forget = try ForgetBench()
        let (bench, file) = (forget.bench, Bench.gallery.appending("events.json"))
        bench.disk.write(Self.events, to: file)
        try await bench.pass()
        bench.disk.remove(file)
        let gallery = bench.folders[0].id
        #expect(try bench.ledger.markGone(gallery, path: "events.json", at: bench.time.now) == 1)
        #expect(try bench.ledger.hasPhotos(gallery))
        #expect(try await forget.plan(file, onlyGone: true).refused.isEmpty)
        let event = try #require(try bench.ledger.event("e1"))
        try bench.ledger.signOff(
            [ArchivedEvent(event: event, profile: "p", object: event.object)], user: "ana", at: bench.time.now)
        #expect(try !bench.ledger.hasPhotos(gallery))
        #expect(try await forget.plan(file, onlyGone: true).refused.isEmpty)
        #expect(try await forget.plan(file).refused.map(\.refusal) == [.events(areArchived: true)])
    }

    @Test func `a file that is gone and was not looked for since is gone`() async throws {
        try await bench.pass()
        bench.disk.remove(path)
        #expect(try await forget.forget(path).result.deleted.count == 1)
        try await bench.pass()
        #expect(try bench.status(path) == nil)
        #expect(try bench.ledger.check() == [])
    }

    @Test func `a folder whose drive is not mounted has nothing missing`() async throws {
        try await lose(path)
        bench.disk.setMounted(false)
        let plan = try await forget.plan(Bench.gallery)
        #expect(plan.photos.isEmpty && plan.refused.count == 2)
        for refused in plan.refused {
            guard case .away = refused.refusal else {
                Issue.record("\(refused.refusal)")
                continue
            }
        }
    }

    @Test func `what another path has stays, and goes with the last one`() async throws {
        let twin = Bench.vacations.pushing("Rome_2024-05-01/twin.jpg")
        bench.disk.write("sunset", to: twin)
        try await lose(path)
        let (plan, result) = try await forget.forget(path)
        #expect(plan.deleted.isEmpty && result.deleted.isEmpty)
        #expect(plan.shared.map(\.reference) == [.path(twin)])
        #expect(try bench.status(path) == nil)
        #expect(try forget.isStored("sunset"))
        bench.disk.remove(twin)
        bench.disk.write("more", to: Bench.vacations.pushing("Rome_2024-05-01/more.jpg"))
        try await bench.pass()
        #expect(try await forget.forget(twin).result.deleted.count == 1)
        #expect(try !forget.isStored("sunset"))
    }

    @Test func `two paths of one photo go together, whatever the order`() async throws {
        let twin = Bench.gallery.appending("twin.jpg")
        bench.disk.write("sunset", to: twin)
        try await lose(path, twin)
        let plan = try await forget.plan(Bench.gallery)
        #expect(plan.photos.count == 2 && plan.deleted.count == 1)
        #expect(try await forget.forget(Bench.gallery).result.deleted.count == 1)
    }

    @Test func `earlier versions go with their path, but for what another one has`() async throws {
        try await bench.pass()
        bench.disk.write("stars", to: path)
        bench.disk.write("sunset", to: other, modifiedSeconds: 1_000_007)
        try await bench.pass()
        bench.disk.write("dawn", to: path, modifiedSeconds: 1_000_009)
        try await lose(path)
        #expect(try await forget.forget(path).plan.deleted.count == 2)
        #expect(try !forget.isStored("stars") && !forget.isStored("dawn"))
        #expect(try forget.isStored("sunset"))
    }

    @Test func `what is being restored or shared keeps its path, too`() async throws {
        try await lose(path)
        let record = try #require(try bench.status(path)?.object)
        let md5 = try #require(record.md5)
        try bench.ledger.openShare(of: md5, at: path)
        let plan = try await forget.plan(path)
        #expect(plan.photos.isEmpty && plan.deleted.isEmpty)
        guard case .needed(.share) = plan.refused.first?.refusal else {
            Issue.record("\(plan.refused)")
            return
        }
        // Whoever shares it while somebody is asked is in time, too.
        let photo = try #require(try bench.status(path))
        #expect(try bench.ledger.beginForget([(photo.id, photo.state)], at: bench.time.now).isEmpty)
    }

    @Test func `a lost photo whose ruin is shared keeps its path until the share ends`() async throws {
        try await lose(path)
        let record = try #require(try bench.status(path)?.object)
        try bench.ledger.openShare(of: try #require(record.md5), at: path)
        try bench.ledger.markBroken([BrokenObject(record, .damaged("its bytes are others"))], at: bench.time.now)
        #expect(try bench.status(path)?.state == .lost)
        let plan = try await forget.plan(path)
        #expect(plan.photos.isEmpty && plan.deleted.isEmpty && plan.shared.isEmpty)
        guard case .needed(.share(let id)) = plan.refused.first?.refusal else {
            Issue.record("\(plan.refused)")
            return
        }
        let photo = try #require(try bench.status(path))
        #expect(try bench.ledger.beginForget([(photo.id, photo.state)], at: bench.time.now).isEmpty)
        _ = try bench.ledger.endShare(try #require(ShareID(id)), .revoked)
        #expect(try await forget.forget(path).plan.deleted.map(\.record.key) == [record.key])
        #expect(try bench.status(path) == nil)
    }

    @Test func `the image of a project that is lost is kept by the restore that has its ruin, and not by the project`()
        async throws
    {
        let image = Bench.projects.appending("p1.jpg")
        bench.disk.write("image", to: image)
        bench.disk.write("another", to: Bench.projects.appending("p2.jpg"))
        try await lose(image)
        let record = try #require(try bench.status(image)?.object)
        try bench.ledger.markBroken([BrokenObject(record, .damaged("its bytes are others"))], at: bench.time.now)
        let photo = try #require(try bench.status(image))
        #expect(photo.state == .lost)
        let job = try restore(record)
        let plan = try await forget.plan(image)
        #expect(plan.photos.isEmpty)
        #expect(plan.refused.map(\.refusal) == [.needed(.restore(job: job.id.rawValue))])
        #expect(try bench.ledger.beginForget([(photo.id, photo.state)], at: bench.time.now).isEmpty)
    }

    @Test func `what is forgotten by its key is in the plan with its ruin, where the store has one`() async throws {
        try await bench.pass()
        let record = try #require(try bench.status(path)?.object)
        bench.disk.write("stars", to: path)
        try await bench.pass()
        func plan() async throws -> [ForgottenObject] {
            try await forget.planner().plan([], objects: [record.key], onlyGone: false).deleted
        }
        #expect(try await plan().isEmpty)
        try bench.ledger.markBroken([BrokenObject(record, .missing)], at: bench.time.now)
        #expect(try await plan().isEmpty)
        try bench.ledger.markBroken([BrokenObject(record, .damaged("its bytes are others"))], at: bench.time.now)
        let deleted = try await plan()
        #expect(deleted.map(\.record.key) == [record.key] && deleted.map(\.record.size) == [record.size])
        let keys = Set(deleted.map(\.record.key))
        #expect(try bench.ledger.forget(photos: [], objects: [record.key], deleting: keys, at: bench.time.now) == 1)
        #expect(try bench.ledger.openDeletions().map(\.key) == [record.key])
    }

    /// An earlier content of the photo, of which the store has a ruin.
    private func ruinOfVersion() async throws -> ObjectRecord {
        try await bench.pass()
        let record = try #require(try bench.status(path)?.object)
        bench.disk.write("stars", to: path)
        try await bench.pass()
        try bench.ledger.markBroken([BrokenObject(record, .damaged("its bytes are others"))], at: bench.time.now)
        return record
    }

    private func restore(_ record: ObjectRecord) throws -> RestoreJob {
        let item = RestoreJobDraft.Item(key: record.key, size: record.size, storageClass: .deepArchive, tier: .bulk)
        let draft = RestoreJobDraft(requestedBy: "ana", tier: .bulk, days: 7, items: [item])
        return try #require(try bench.ledger.addRestoreJob(draft, at: bench.time.now).job)
    }

    @Test func `what is named by its key stays known while a restore needs it`() async throws {
        let record = try await ruinOfVersion()
        let job = try restore(record)
        let planner = try forget.planner()
        let plan = try await planner.plan([], objects: [record.key], onlyGone: false)
        #expect(plan.objects.isEmpty && plan.deleted.isEmpty)
        #expect(plan.held.map(\.key) == [record.key])
        #expect(plan.held.map(\.reference) == [.restore(job: job.id.rawValue)])
        #expect(try await planner.begin(plan).held.count == 1)
        #expect(try bench.ledger.forget(photos: [], objects: [record.key], deleting: [record.key]) == 0)
        #expect(try bench.ledger.object(record.key) != nil)
        #expect(try bench.ledger.openDeletions().isEmpty)
    }

    @Test func `what is named by its key stays known while an open share needs it`() async throws {
        let record = try await ruinOfVersion()
        try bench.ledger.openShare(of: try #require(record.md5), at: path)
        let plan = try await forget.planner().plan([], objects: [record.key], onlyGone: false)
        #expect(plan.objects.isEmpty && plan.deleted.isEmpty)
        let reference = try #require(plan.held.first?.reference)
        guard case .share = reference else {
            Issue.record("\(reference)")
            return
        }
    }

    @Test func `a restore that begins while somebody is asked keeps what was named by its key`() async throws {
        let record = try await ruinOfVersion()
        let planner = try forget.planner()
        let plan = try await planner.plan([], objects: [record.key], onlyGone: false)
        #expect(plan.objects == [record.key] && plan.deleted.map(\.record.key) == [record.key])
        _ = try restore(record)
        let begun = try await planner.begin(plan)
        #expect(begun.objects.isEmpty && begun.deleted.isEmpty && begun.held.map(\.key) == [record.key])
        #expect(try bench.ledger.object(record.key) != nil)
        #expect(try bench.ledger.openDeletions().isEmpty)
    }

    @Test func `it is known since when a file is gone`() async throws {
        try await bench.pass()
        await bench.time.advance(by: .seconds(1_000))
        bench.disk.remove(path)
        try await bench.pass()
        let gone = bench.time.now
        await bench.time.advance(by: .seconds(1_000))
        try await bench.pass()
        #expect(try bench.status(path)?.missingSince == gone)
        #expect(try bench.status(other)?.missingSince == nil)
        var found: [PhotoStatus] = []
        try bench.ledger.photos(at: Bench.gallery) { found.append($0) }
        let planner = try forget.planner()
        #expect(try await planner.plan(found, onlyGone: true, since: gone).photos.map(\.path) == [path])
        #expect(try await planner.plan(found, onlyGone: true, since: gone.addingTimeInterval(-1)).photos.isEmpty)
    }

    @Test func `a file that comes back while somebody is asked stays known, with what is stored of it`() async throws {
        try await lose(path)
        let plan = try await forget.plan(path)
        bench.disk.write("sunset", to: path)
        try await bench.pass()
        let begun = try await forget.planner().begin(plan)
        #expect(begun.photos.isEmpty && begun.refused.map(\.refusal) == [.changed])
        #expect(try await forget.deletions().run().deleted.isEmpty)
        #expect(try bench.status(path)?.state == .uploaded)
        #expect(try forget.wronglySafe().isEmpty)
    }

    @Test
    func `the manifest of a vacation of which photos are forgotten names them no more, and goes with the last one`()
        async throws
    {
        let machine = try VacationMachine(bench.memory)
        for number in 1...3 {
            machine.disk.write("photo \(number)", to: VacationMachine.paris.appending("\(number).jpg"))
        }
        try await machine.pass()
        for number in 1...3 { machine.disk.remove(VacationMachine.paris.appending("\(number).jpg")) }
        machine.disk.write("else", to: VacationMachine.root.pushing("Rome_2024-05-01/1.jpg"))
        try await machine.pass()
        let photos = try (1...3).map { number in
            var found: PhotoStatus?
            try machine.ledger.photos(at: VacationMachine.paris.appending("\(number).jpg")) { found = $0 }
            return try #require(found)
        }
        #expect(
            try machine.ledger.beginForget([(photos[0].id, photos[0].state)], at: machine.time.now) == [photos[0].id])
        #expect(try machine.ledger.openDeletions().count == 1)
        _ = try await machine.makeKeeper().run(where: \.hasForgotten)
        let name = "Paris_France_2024-06-15_2024-06-22_2"
        #expect(try machine.manifest(name)?.photos.map(\.name) == ["2.jpg", "3.jpg"])
        #expect(machine.manifests.filter { $0.hasPrefix("Paris") } == ["\(name).json"])
        let rest = photos[1...].map { ($0.id, $0.state) }
        #expect(try machine.ledger.beginForget(rest, at: machine.time.now).count == 2)
        _ = try await machine.makeKeeper().run()
        #expect(machine.manifests.filter { $0.hasPrefix("Paris") }.isEmpty)
        #expect(try machine.ledger.check() == [])
    }
}
