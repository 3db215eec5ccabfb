import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage

/// A seeded life of a home: what people, disks, stores and clocks do, step by step, and the agent between.
final class Life {
    /// Something that happens and that the model is not told of: it must find each of them.
    enum Lie: String, CaseIterable, Sendable {
        case objectGone, objectAltered, claimedAndNeverSent, shareLeftBehind, photoForgotten, strangerStored
        case eventTextGone, archivedPhotoGone, projectImageGone, deletedProjectStored, mirrorAltered
    }

    static let days = 30.0

    let seed: UInt64
    let home: Home
    let gallery: EventGallery
    let projectsFolder: ProjectsFolder
    var model = LifeModel()
    var events = EventModel()
    var projects = ProjectModel()
    let friend: FriendsMachine
    var mirrors = MirrorModel()
    /// Promises that cleanups and mirrors broke since the last look.
    var brokenMeanwhile: [String] = []
    var dice: Dice
    var count = 0
    /// Processes that did not end by themselves.
    private var kills = 0
    /// What was done, and how it ended.
    private(set) var steps: [String] = []
    /// How the home was after each step, but for what the system draws.
    private(set) var digests: [MD5Digest] = []

    init(seed: UInt64) throws {
        self.seed = seed
        dice = Dice(seed: seed)
        home = try Home(hasApps: true)
        guard let gallery = home.events, let folder = home.projects else {
            preconditionFailure("a home without the folders of its apps")
        }
        self.gallery = gallery
        projectsFolder = folder
        friend = try FriendsMachine(beside: home)
    }

    /// Lives to the end, or to the first broken promise.
    /// - Parameters:
    ///   - days: of the home's clock.
    ///   - lie: told after that time, before the last look.
    /// - Returns: the promises that were broken.
    func run(days: Double = Life.days, endingWith lie: Lie? = nil) async throws -> [String] {
        let end = Duration.seconds(days * 86_400)
        while home.clock.elapsed < end {
            try await step()
            let broken = try await check()
            if !broken.isEmpty { return broken }
            if count.isMultiple(of: 40) {
                let unmended = try await peace()
                if !unmended.isEmpty { return unmended }
            }
        }
        let unmended = try await peace()
        guard unmended.isEmpty, let lie else { return unmended }
        try await apply(lie)
        let found = try await check()
        let process = try home.start()
        let late = try model.unmended(in: home, process.ledger)
        _ = try await home.finish(process)
        return found + late
    }

    // MARK: Steps

    private func step() async throws {
        count += 1
        home.clock.advance(by: .seconds(1_200 + dice.below(18_000)))
        let what: String
        switch dice.below(36) {
        case 0...4: what = add()
        case 5: what = change()
        case 6: what = move()
        case 7: what = remove()
        case 8: what = mount()
        case 9...13: what = try await pass()
        case 14, 15: what = try await spoil()
        case 16: what = archive()
        case 17: what = try await restore()
        case 18, 19: what = try await share()
        case 20: what = try await revoke()
        case 21: what = try await work("verify", trouble(gentle: true)) { try await $0.verify() }
        case 22: what = setClock()
        case 23, 24: what = try addEvents()
        case 25: what = try editEvent()
        case 26: what = try renameEvents()
        case 27, 28: what = try await cleanUp()
        case 29: what = try await loseLedger()
        case 30...33: what = try await workOnProjects()
        default: what = try await workOnMirrors()
        }
        steps.append(what)
    }

    /// Photos in the store that can be read now.
    private var standard: [ObjectKey] {
        home.memory.keys.filter { key in
            key.rawValue.hasPrefix("users/ana/photos/") && home.memory.info(key)?.storageClass == .standard
        }
    }

    private var photos: [FilePath] { model.files.keys.sorted { $0.string < $1.string } }

    private func newPlace() -> FilePath {
        let folder = [Home.gallery, Home.gallery.appending("2025"), Home.rome, Home.oslo][dice.below(4)]
        return folder.appending("\(dice.below(12)).jpg")
    }

    private func newText() -> String {
        switch dice.below(12) {
        case 0: "broken \(count)"
        case 1: "text \(count)"
        case 2, 3: dice.pick(photos).flatMap { model.files[$0] } ?? "photo \(count)"
        default: "photo \(count)"
        }
    }

    private func write(_ text: String, to path: FilePath) {
        home.disk.write(text, to: path, modifiedSeconds: Int64(home.clock.now.timeIntervalSince1970))
        model.write(text, at: path)
    }

    private func add() -> String {
        let names = (0...dice.below(3)).map { _ in
            let (path, text) = (newPlace(), newText())
            write(text, to: path)
            return "\(path)=\(text)"
        }
        return "write \(names.joined(separator: ", "))"
    }

    private func change() -> String {
        guard let path = dice.pick(photos) else { return "nothing to change" }
        let text = newText()
        write(text, to: path)
        return "change \(path)=\(text)"
    }

    private func move() -> String {
        guard let path = dice.pick(photos) else { return "nothing to move" }
        let other = newPlace()
        if other == path { return "moved nowhere" }
        home.disk.rename(path, to: other)
        model.rename(path, to: other)
        return "move \(path) to \(other)"
    }

    private func remove() -> String {
        guard let path = dice.pick(photos) else { return "nothing to remove" }
        home.disk.remove(path)
        model.remove(path)
        return "remove \(path)"
    }

    private func mount() -> String {
        let isMounted = dice.oneIn(2)
        home.disk.setMounted(isMounted)
        return isMounted ? "mount" : "unmount"
    }

    private func spoil() async throws -> String {
        guard let key = dice.pick(standard) else { return "nothing to spoil" }
        let isGone = dice.oneIn(2)
        if isGone { try await home.memory.delete(key) } else { home.memory.damage(key) }
        model.spoil(key)
        return "\(isGone ? "lose" : "damage") \(key)"
    }

    private func archive() -> String {
        guard let key = dice.pick(standard.filter { !model.spoilt.contains($0) }) else { return "nothing to archive" }
        home.memory.setClass(.deepArchive, of: key)
        return "archive \(key)"
    }

    private func setClock() -> String {
        let hours = [-70, -3, 2, 50][dice.below(4)]
        home.clock.jump(by: Double(hours) * 3_600)
        return "clock \(hours) h"
    }

    private func pass() async throws -> String { try await work("pass", trouble()) { try await $0.pass() } }

    private func restore() async throws -> String {
        guard let path = dice.pick(photos) else { return "nothing to restore" }
        return try await work("restore \(path)", trouble(gentle: true)) { _ = try await $0.restore(path) }
    }

    private func share() async throws -> String {
        let folder = dice.oneIn(2) ? Home.rome : Home.oslo
        return try await work("share \(folder)", trouble()) { process in
            let share = try await process.share(folder)
            mirrors.tell(of: share)
        }
    }

    private func revoke() async throws -> String {
        try await work("revoke", trouble()) { process in
            for share in try process.ledger.shares(limit: .max).reversed() where share.state.isOpen {
                return try await process.revoke(share.id)
            }
        }
    }

    private func loseLedger() async throws -> String {
        guard dice.oneIn(3) else { return "nothing" }
        home.loseLedger()
        model.forgetShares()
        return try await work("lose the ledger, and rebuild it", nil) { try await $0.rebuild() }
    }

    // MARK: A process

    func trouble(gentle: Bool = false) -> Trouble? {
        let seed = dice.next()
        switch dice.below(gentle ? 6 : 9) {
        case 0: return Trouble(.faults(oneIn: 3), seed: seed)
        case 1: return Trouble(.faults(oneIn: 12), seed: seed)
        case 6, 7: return Trouble(.death(oneIn: 4), seed: seed)
        case 8: return Trouble(.outage(after: dice.below(6)), seed: seed)
        default: return nil
        }
    }

    /// - Returns: what was done, in what trouble, and how it ended.
    func work(
        _ what: String, _ trouble: Trouble?, _ body: (AgentProcess) async throws -> Void
    ) async throws -> String {
        let process = try trouble.map { try home.start(in: $0) } ?? home.start()
        var ending = "done"
        do {
            try await body(process)
        } catch let error as LedgerError {
            throw error
        } catch {
            // A store that fails is no fault of the agent's: what it has said and left behind is judged.
            ending = "failed"
            if trouble == nil, !(error is VacationLookupError), !(error is ShareError) { throw error }
        }
        if try await home.finish(process) {
            ending = "killed"
            kills += 1
        }
        return "\(what) \(trouble.map { "\($0.kind)" } ?? "in peace"): \(ending)"
    }

    /// Verification and two passes with nothing in their way; a third one sends nothing.
    private func peace() async throws -> [String] {
        home.disk.setMounted(true)
        // Past whatever any clock has shown, and any pause.
        home.clock.jump(by: 80 * 3_600)
        let process = try home.start()
        let early = try retrySetAside(process.ledger)
        try process.ledger.makeAllDue(at: home.clock.now)
        let undeleted = try await endDeletions(process)
        try await process.verify()
        try await process.pass()
        home.clock.advance(by: .seconds(60 * 3_600))
        let due = events.due(at: home.clock.now)
        let summary = try await process.cleanUp(gallery)
        events.cleaned(at: home.clock.now)
        let wrongEvents =
            try events.unmended(in: gallery, due: due, summary)
            + events.broken(in: gallery, home.memory)
        home.clock.advance(by: .seconds(60))
        try await process.pass()
        let puts = process.store.count(.put)
        try await process.pass()
        let sent = process.store.calls.filter { $0.operation == .put }.dropFirst(puts).map(\.key)
            .filter { $0.hasPrefix("users/ana/photos/") }
        _ = try model.broken(in: home, process.ledger)
        let wrongProjects = try undeleted + projects.unmended(in: projectsFolder, home.memory)
        let wrongPhotos = try model.unmended(in: home, process.ledger)
        let wrongMirrors = try await mirrorInPeace()
        let sentAgain = sent.map { "\($0) was sent once more" }
        let wrong = early + wrongEvents + wrongProjects + wrongPhotos + wrongMirrors + sentAgain
        _ = try await home.finish(process)
        steps.append("peace")
        return wrong
    }

    /// A photo that was being decoded at the second kill waits for the person, who does as its error says. How far it
    /// is while another one is sent, and kills the process, is the machine's.
    /// - Returns: those that were set aside before there were two kills.
    private func retrySetAside(_ ledger: Ledger) throws -> [String] {
        let setAside = try [Home.pictures, gallery.path, projectsFolder.path].flatMap {
            try self.setAside(ledger, at: $0)
        }
        if !setAside.isEmpty { _ = try ledger.retry(setAside.map(\.id)) }
        return kills < 2 ? setAside.map { "\($0.path) was set aside after \(kills) kills" } : []
    }

    private func check() async throws -> [String] {
        let process = try home.start()
        let brokenProjects = try projects.broken(in: projectsFolder, home.memory, process.ledger)
        let broken =
            try model.broken(in: home, process.ledger) + events.broken(in: gallery, home.memory) + brokenMeanwhile
            + brokenProjects
        brokenMeanwhile = []
        var states = try gallery.texts(of: events.events.keys).map { "\($0.key) in \($0.value)" }
        try process.ledger.photos(at: Home.pictures) { states.append("\($0.path) \($0.state)") }
        let objects = home.memory.keys.filter { !$0.rawValue.contains("/catalog/") }.map { key in
            "\(Trouble.withoutIDs(key.rawValue)) \(home.memory.info(key)?.storageClass.rawValue ?? "")"
        }
        digests.append(
            ContentDigest(of: Array((states.sorted() + objects.sorted()).joined(separator: "\n").utf8)).md5)
        _ = try await home.finish(process)
        return broken
    }

    // MARK: Lies

    /// Does what the model is not told of.
    private func apply(_ lie: Lie) async throws {
        let process = try home.start()
        write("the last photo", to: Home.rome.appending("last.jpg"))
        home.clock.advance(by: .seconds(60))
        try await process.pass()
        let key = try KeyLayout(user: "ana").photo(PhotoID(ContentDigest(of: Array("the last photo".utf8)).md5))
        switch lie {
        case .objectGone:
            _ = try model.broken(in: home, process.ledger)
            try await home.memory.delete(key)
        case .objectAltered:
            _ = try model.broken(in: home, process.ledger)
            home.memory.damage(key)
        case .claimedAndNeverSent: try process.claimStored(Home.gallery.appending("never.jpg"))
        case .shareLeftBehind:
            let id = try await process.share(Home.rome)
            try await process.revoke(id)
            try await home.memory.store([1], at: ShareKeys(id).page)
        case .photoForgotten: write("a photo that nobody looks at", to: Home.gallery.appending("forgotten.jpg"))
        case .eventTextGone:
            let event = EventModel.Event(created: secondsAgo(0), photo: nil)
            try gallery.add("last", event, to: "last.json")
            writeEvent("last", event)
            try gallery.remove("last.json")
        case .archivedPhotoGone:
            let old = secondsAgo((EventModel.days + 1) * 86_400)
            let event = EventModel.Event(created: old, photo: "the last photo of an event")
            try gallery.add("last", event, to: "last.json")
            writeEvent("last", event)
            home.clock.advance(by: .seconds(60))
            _ = try await process.cleanUp(gallery)
            events.cleaned(at: home.clock.now)
            for key in home.memory.keys where key.rawValue.hasPrefix("gallery-archive/") {
                try await home.memory.delete(key)
            }
        case .projectImageGone, .deletedProjectStored:
            try makeProject("last")
            home.clock.advance(by: .seconds(60))
            try await process.pass()
            _ = try projects.broken(in: projectsFolder, home.memory, process.ledger)
            let image = try ObjectKey("users/ana/projects/\(ProjectsFolder.image("last"))")
            if lie == .projectImageGone {
                try await home.memory.delete(image)
            } else {
                projects.ask(for: "last")
                if try await process.deleteProject("last").isEmpty { projects.end("last") }
                try await home.memory.store([1], at: image)
            }
        case .mirrorAltered:
            let share = try await process.share(Home.rome)
            mirrors.tell(of: share)
            _ = try await mirror(share, nil)
            for name in try friend.photos(of: share).keys { try friend.write("altered", to: name, of: share) }
            brokenMeanwhile += try await mirror(share, nil)
        case .strangerStored: try await home.memory.store([1], at: ObjectKey("users/ana/photos/stranger.dat"))
        }
        _ = try await home.finish(process)
    }
}
