import FoundationEssentials
import SyncCore
import SyncDigest
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct VacationManifestSyncTests {
    private let paris = VacationMachine.paris
    private let key = "Paris_France_2024-06-15_2024-06-22"

    private func machine(_ memory: InMemoryStore = InMemoryStore(), photos: Int = 3) throws -> VacationMachine {
        let machine = try VacationMachine(memory)
        for number in 1...photos { machine.disk.write("photo \(number)", to: paris.appending("\(number).jpg")) }
        return machine
    }

    @Test func `a vacation is stored once all of its photos are, and not again`() async throws {
        let machine = try machine()
        try machine.store(leaving: 1)
        #expect(try await machine.makeKeeper().run() == VacationManifestSync.Summary())
        #expect(machine.manifests == [])
        await machine.time.advance(by: .seconds(60))
        #expect(try await machine.pass().stored == 1)
        #expect(machine.manifests == ["\(key)_3.json"])
        let manifest = try #require(try machine.manifest("\(key)_3"))
        #expect(manifest.location == "Paris France" && manifest.photoCount == 3)
        #expect(manifest.photos.map(\.name) == ["1.jpg", "2.jpg", "3.jpg"])
        #expect(manifest.photos.map(\.md5) == (1...3).map { MD5Digest.of("photo \($0)") })
        let calls = machine.store.calls.count
        #expect(try await machine.pass() == VacationManifestSync.Summary())
        #expect(machine.store.calls.count == calls)
        #expect(try machine.ledger.vacations().map { $0.state(isShared: false) } == [.stored])
    }

    @Test(arguments: [true, false])
    func `a page in place of an answer ends a round only where the store itself gives one, too`(
        isBeforeAll: Bool
    ) async throws {
        let machine = try machine()
        try machine.store()
        await machine.time.advance(by: .seconds(60))
        machine.store.add(StoreFault(.put, number: 1, .failBefore(.invalidResponse)))
        if isBeforeAll { machine.store.add(StoreFault(.check, number: 1, .failBefore(.invalidResponse))) }
        if isBeforeAll {
            await #expect(throws: StoreError.self) { try await machine.makeKeeper().run() }
        } else {
            #expect(try await machine.makeKeeper().run().failures.count == 1)
        }
        #expect(machine.store.count(.check) == 1)
        #expect(try await machine.makeKeeper().run().stored == 1)
    }

    @Test func `a manifest that the store denies holds up no other vacation's`() async throws {
        let machine = try machine()
        let rome = "Rome_Italy_2024-08-01_2024-08-09"
        machine.disk.write("photo 4", to: VacationMachine.root.appending(rome).appending("4.jpg"))
        let denied = try KeyLayout.ana.vacation("\(key)_3").rawValue
        machine.store.add(StoreFault(.put, key: denied, number: 1, .failBefore(.accessDenied)))
        let first = try await machine.pass()
        #expect(first.stored == 1 && first.failures.count == 1)
        #expect(machine.manifests == ["\(rome)_1.json"])
        #expect(try await machine.pass().stored == 1)
    }

    @Test func `a manifest that a listing cannot look at is one of this machine's objects`() async throws {
        let machine = try machine()
        try await machine.pass()
        let manifest = try KeyLayout.ana.vacation("\(key)_3")
        let refresh = ClassRefresh(
            store: machine.store, ledger: machine.queue, keys: .ana, time: machine.time.source)
        _ = try await refresh.run()
        #expect(try machine.ledger.unclearOwnObjects(.ana) == 0)
        machine.memory.makeUnreadable(manifest, as: .invalidResponse)
        let result = try await refresh.run()
        #expect(result.problems.map(\.key) == [manifest] && result.manifests == 0)
        #expect(try machine.ledger.unclearOwnObjects(.ana) == 1)
    }

    @Test func `a manifest of which a listing leaves open what it holds is read, and written again if damaged`()
        async throws
    {
        let machine = try machine(InMemoryStore(listedDigests: .none))
        try await machine.pass()
        let refresh = ClassRefresh(
            store: TellingStore(base: machine.store), ledger: machine.queue, keys: .ana, time: machine.time.source)
        #expect(try await refresh.run().manifests == 0)
        machine.memory.damage(try KeyLayout.ana.vacation("\(key)_3"))
        #expect(try await refresh.run().manifests == 1)
    }

    @Test func `photos stand in the order of capture, below folders too`() async throws {
        let machine = try VacationMachine()
        for (text, name) in [("300 c", "a.jpg"), ("100 a", "z/y.jpg"), ("x", "0.jpg"), ("100 b", "b.jpg")] {
            machine.disk.write(text, to: paris.pushing(FilePath(name)))
        }
        try await machine.pass()
        #expect(try machine.manifest("\(key)_4")?.photos.map(\.name) == ["b.jpg", "z/y.jpg", "a.jpg", "0.jpg"])
    }

    @Test func `added, replaced and removed photos are seen, and the old manifest goes`() async throws {
        let machine = try machine()
        try await machine.pass()
        machine.disk.write("photo 4", to: paris.appending("4.jpg"))
        let added = try await machine.pass()
        #expect(added.stored == 1 && added.removed == 1)
        #expect(machine.manifests == ["\(key)_4.json"])
        // Another photo under the same name: the count and the key are as before.
        machine.disk.write("another", to: paris.appending("4.jpg"))
        let replaced = try await machine.pass()
        #expect(replaced.stored == 1 && replaced.removed == 0)
        #expect(try machine.manifest("\(key)_4")?.photos.map(\.md5).contains(MD5Digest.of("another")) == true)
        machine.disk.remove(paris.appending("1.jpg"))
        try await machine.pass()
        #expect(machine.manifests == ["\(key)_3.json"])
        // What is no photo is no part of it.
        machine.disk.write("text", to: paris.appending("5.jpg"))
        #expect(try await machine.pass().stored == 0)
        #expect(try machine.ledger.check() == [])
    }

    @Test func `a photo that is only written anew, or has another name, is stored where it counts`() async throws {
        let machine = try machine()
        try await machine.pass()
        machine.disk.write("photo 1", to: paris.appending("1.jpg"), modifiedSeconds: 1_000_005)
        #expect(try await machine.pass() == VacationManifestSync.Summary())
        machine.disk.move(paris.appending("1.jpg"), to: paris.appending("one.jpg"))
        let renamed = try await machine.pass()
        #expect(renamed.stored == 1 && renamed.removed == 0)
        #expect(try machine.manifest("\(key)_3")?.photos.map(\.name) == ["2.jpg", "3.jpg", "one.jpg"])
    }

    @Test func `a renamed folder is stored under its new name, and then the old manifest goes`() async throws {
        let machine = try machine()
        try await machine.pass()
        for number in 1...3 {
            let name = "\(number).jpg"
            machine.disk.move(
                paris.appending(name), to: VacationMachine.root.pushing(FilePath("Lyon_2024-07-01")).appending(name))
        }
        let result = try await machine.pass()
        #expect(result.stored == 1 && result.removed == 1)
        #expect(machine.manifests == ["Lyon_2024-07-01_2024-07-01_3.json"])
        #expect(try machine.ledger.vacations().map(\.folderName) == ["Lyon_2024-07-01"])
        #expect(try machine.ledger.check() == [])
    }

    @Test func `the old manifest of a renamed folder stays until the new one is there`() async throws {
        let machine = try machine()
        try await machine.pass()
        let lyon = VacationMachine.root.appending("Lyon")
        for number in 1...3 {
            machine.disk.move(paris.appending("\(number).jpg"), to: lyon.appending("\(number).jpg"))
        }
        machine.disk.write("new", to: lyon.appending("new.jpg"))
        try machine.store(leaving: 1)
        #expect(try await machine.makeKeeper().run().removed == 0)
        #expect(machine.manifests == ["\(key)_3.json"])
        await machine.time.advance(by: .seconds(60))
        try await machine.pass()
        #expect(machine.manifests == ["Lyon_1970-01-12_1970-01-12_4.json"])
    }

    @Test func `what was deleted on the disk stays in the store, and is known`() async throws {
        let machine = try machine()
        machine.describe(#"{"locationName": "Paris!", "sharedBy": "Ana"}"#, in: paris)
        machine.disk.write("elsewhere", to: VacationMachine.root.pushing(FilePath("Rome/1.jpg")))
        try await machine.pass()
        // One photo was taken out before, and is no part of what was stored last.
        machine.disk.remove(paris.appending("2.jpg"))
        try await machine.pass()
        let before = machine.manifests
        for name in ["1.jpg", "3.jpg", "vacation.json"] { machine.disk.remove(paris.appending(name)) }
        machine.descriptions.set(nil, in: paris)
        #expect(try await machine.pass() == VacationManifestSync.Summary())
        #expect(machine.manifests == before)
        let vacation = try await machine.finder.find("Paris!")
        #expect(vacation.photos.map(\.name) == ["1.jpg", "3.jpg"])
        #expect(vacation.photos.allSatisfy { $0.state == .missing && $0.object != nil })
        #expect(vacation.sharedBy == "Ana")
    }

    @Test func `the description decides, and a change of it is stored`() async throws {
        let machine = try machine()
        machine.describe(#"{"locationName": "Paris, Texas", "startDate": "2024-06-16", "sharedBy": "Ana"}"#, in: paris)
        try await machine.pass()
        #expect(machine.manifests == ["Paris_Texas_2024-06-16_2024-06-22_3.json"])
        #expect(try machine.manifest("Paris_Texas_2024-06-16_2024-06-22_3")?.sharedBy == "Ana")
        machine.describe(#"{"locationName": "Paris, Texas", "startDate": "2024-06-16", "sharedBy": "Bo"}"#, in: paris)
        #expect(try await machine.pass().stored == 1)
        #expect(try machine.manifest("Paris_Texas_2024-06-16_2024-06-22_3")?.sharedBy == "Bo")
        machine.describe("{", in: paris)
        let damaged = try await machine.pass()
        #expect(damaged.notes == ["\(paris)/vacation.json is not used as it is: it is not a JSON object"])
        #expect(machine.manifests == ["\(key)_3.json"])
        machine.describe(nil, in: paris)
        #expect(try await machine.pass().notes == [])
    }

    @Test func `a folder that cannot be read now changes nothing`() async throws {
        let machine = try machine()
        machine.describe(#"{"locationName": "Paris"}"#, in: paris)
        try await machine.pass()
        machine.disk.write("photo 4", to: paris.appending("4.jpg"))
        machine.descriptions.setAway(true)
        #expect(try await machine.pass().failures == ["\(paris): no such folder"])
        #expect(machine.manifests == ["Paris_2024-06-15_2024-06-22_3.json"])
        machine.descriptions.setAway(false)
        try await machine.pass()
        #expect(machine.manifests == ["Paris_2024-06-15_2024-06-22_4.json"])
    }

    // MARK: Two machines

    @Test func `another machine of the same user finds the vacation, and writes nothing`() async throws {
        let one = try machine()
        try await one.pass()
        let two = try VacationMachine(one.memory)
        for number in 1...3 {
            two.disk.write("photo \(number)", to: paris.appending("of two \(number).jpg"))
        }
        let result = try await two.pass()
        #expect(result.stored == 0 && result.found == 1)
        #expect(two.store.count(.put) == 0)
        #expect(try two.ledger.vacations().map { $0.state(isShared: false) } == [.stored])
        #expect(try await two.pass() == VacationManifestSync.Summary())
        // What it renames there is the other's to remove.
        for number in 1...3 {
            let name = "of two \(number).jpg"
            two.disk.move(
                paris.appending(name), to: VacationMachine.root.pushing(FilePath("Lyon_2024-07-01")).appending(name))
        }
        try await two.pass()
        #expect(one.manifests == ["Lyon_2024-07-01_2024-07-01_3.json", "\(key)_3.json"])
    }

    @Test func `the manifest of another machine is neither replaced nor removed for one's own`() async throws {
        let one = try machine()
        try await one.pass()
        let two = try VacationMachine(one.memory)
        for number in 2...4 { two.disk.write("photo \(number)", to: paris.appending("\(number).jpg")) }
        #expect(try await two.pass().stored == 1)
        #expect(one.manifests == ["\(key)_3-2.json", "\(key)_3.json"])
        #expect(try one.manifest("\(key)_3")?.photos.map(\.name) == ["1.jpg", "2.jpg", "3.jpg"])
        #expect(try one.manifest("\(key)_3-2")?.photos.map(\.name) == ["2.jpg", "3.jpg", "4.jpg"])
        #expect(try one.manifest("\(key)_3-2")?.cacheKey == "\(key)_3-2")
        // A look at what is as it was asks the store for nothing.
        two.disk.write("photo 4", to: paris.appending("4.jpg"), modifiedSeconds: 1_000_005)
        let calls = two.store.calls.count
        try two.store()
        #expect(try await two.makeKeeper().run() == VacationManifestSync.Summary())
        #expect(two.store.calls.count == calls)
        #expect(try two.ledger.vacations().map { $0.state(isShared: false) } == [.stored])
        // It is its own to write anew and to remove.
        two.disk.write("photo 5", to: paris.appending("4.jpg"))
        #expect(try await two.pass().stored == 1)
        #expect(one.manifests == ["\(key)_3-2.json", "\(key)_3.json"])
        two.disk.write("photo 6", to: paris.appending("6.jpg"))
        let result = try await two.pass()
        #expect(result.stored == 1 && result.removed == 1)
        #expect(one.manifests == ["\(key)_3.json", "\(key)_4.json"])
    }

    @Test func `of two machines that store other photos under one key at the same time, none loses its manifest`()
        async throws
    {
        let one = try machine()
        let two = try VacationMachine(one.memory)
        for number in 2...4 { two.disk.write("photo \(number)", to: paris.appending("\(number).jpg")) }
        try one.store()
        try two.store()
        // The first has looked, and found nothing; before it writes, the second one has written.
        let gate = Gate()
        one.store.add(StoreFault(.put, number: 1, .hold(gate)))
        async let first = one.makeKeeper().run()
        await gate.waitForArrivals(1)
        let second = try? await two.makeKeeper().run()
        gate.open()
        #expect(second?.stored == 1)
        #expect(try await first.stored == 1)
        #expect(one.manifests == ["\(key)_3-2.json", "\(key)_3.json"])
        #expect(try one.manifest("\(key)_3")?.photos.map(\.name) == ["2.jpg", "3.jpg", "4.jpg"])
        #expect(try one.manifest("\(key)_3-2")?.photos.map(\.name) == ["1.jpg", "2.jpg", "3.jpg"])
    }

    @Test func `machines that come to the same photos come to the same manifest`() async throws {
        let one = try machine()
        try await one.pass()
        let two = try VacationMachine(one.memory)
        for number in 2...4 { two.disk.write("photo \(number)", to: paris.appending("\(number).jpg")) }
        try await two.pass()
        two.disk.remove(paris.appending("4.jpg"))
        two.disk.write("photo 1", to: paris.appending("1.jpg"))
        let result = try await two.pass()
        #expect(result.found == 1 && result.stored == 0 && result.removed == 1)
        #expect(one.manifests == ["\(key)_3.json"])
    }

    @Test func `what is too large to be a manifest is told and replaced`() async throws {
        let machine = try machine()
        let bytes = [UInt8](repeating: 0x20, count: VacationManifest.maximumSize + 1)
        _ = try await machine.memory.put(
            ObjectBody(bytes: bytes, digest: ContentDigest(of: bytes)),
            at: try KeyLayout(user: "ana").vacation("\(key)_3"),
            attributes: ObjectAttributes(contentType: "application/json"), condition: .overwrite)
        let result = try await machine.pass()
        #expect(result.notes.count == 1 && result.stored == 1)
    }

    @Test func `two vacations of one key have two manifests, and equal ones share theirs`() async throws {
        let machine = try VacationMachine()
        for (folder, text) in [("Rome_2024-06-15", "a"), ("Rome 2024-06-15", "b"), ("Rome__2024-06-15", "a")] {
            machine.disk.write(text, to: VacationMachine.root.pushing(FilePath("\(folder)/1.jpg")))
        }
        let result = try await machine.pass()
        #expect(result.stored == 2)
        #expect(machine.manifests == ["Rome_2024-06-15_2024-06-15_1-2.json", "Rome_2024-06-15_2024-06-15_1.json"])
        machine.disk.remove(VacationMachine.root.pushing(FilePath("Rome_2024-06-15/1.jpg")))
        machine.disk.write("c", to: VacationMachine.root.pushing(FilePath("Rome_2024-06-15/2.jpg")))
        machine.disk.write("d", to: VacationMachine.root.pushing(FilePath("Rome_2024-06-15/3.jpg")))
        try await machine.pass()
        #expect(machine.manifests.count == 3)
    }

    // MARK: The store

    @Test(arguments: [
        #"{"version": 99, "photos": "elsewhere"}"#, "not JSON", "{}", "",
    ])
    func `a manifest that cannot be understood is told and replaced`(text: String) async throws {
        let machine = try machine()
        let bytes = Array(text.utf8)
        _ = try await machine.memory.put(
            ObjectBody(bytes: bytes, digest: ContentDigest(of: bytes)),
            at: try KeyLayout(user: "ana").vacation("\(key)_3"),
            attributes: ObjectAttributes(contentType: "application/json"), condition: .overwrite)
        let result = try await machine.pass()
        #expect(result.notes.count == 1 && result.stored == 1)
        #expect(try machine.manifest("\(key)_3")?.photoCount == 3)
    }

    @Test func `a store that is away ends the round, and the next one goes on`() async throws {
        let machine = try machine()
        try machine.store()
        machine.store.add(StoreFault(.put, number: 1, .failBefore(.unreachable)))
        await #expect(throws: StoreError.self) { try await machine.makeKeeper().run() }
        #expect(machine.manifests == [])
        #expect(try await machine.makeKeeper().run().stored == 1)
    }

    @Test func `a failure of one vacation keeps the others from nothing`() async throws {
        let machine = try machine()
        machine.disk.write("elsewhere", to: VacationMachine.root.pushing(FilePath("Ahead_2024-01-01/1.jpg")))
        let name = "users/ana/vacations/Ahead_2024-01-01_2024-01-01_1.json"
        machine.store.add(StoreFault(.put, key: name, number: 1, .failBefore(.archived)))
        let result = try await machine.pass()
        #expect(result.failures.count == 1 && result.stored == 1)
        #expect(try await machine.makeKeeper().run().stored == 1)
    }

    @Test func `an agent that was killed after the put knows its manifest`() async throws {
        let machine = try machine()
        try machine.store()
        machine.store.add(StoreFault(.put, number: 1, .failAfter(.connectionLost)))
        #expect(try await machine.makeKeeper().run().failures.count == 1)
        let again = try await machine.makeKeeper().run()
        #expect(again.stored == 0 && again.found == 0)
        machine.disk.write("photo 4", to: paris.appending("4.jpg"))
        #expect(try await machine.pass().removed == 1)
        #expect(machine.manifests == ["\(key)_4.json"])
    }

    @Test func `an old manifest that could not be removed is removed later`() async throws {
        let machine = try machine()
        try await machine.pass()
        machine.disk.write("photo 4", to: paris.appending("4.jpg"))
        machine.store.add(StoreFault(.delete, number: 1, .failBefore(.serverFailed)))
        #expect(try await machine.pass().failures.count == 1)
        #expect(machine.manifests.count == 2)
        #expect(try await machine.makeKeeper().run().removed == 1)
        #expect(machine.manifests == ["\(key)_4.json"])
    }
}

extension MD5Digest {
    /// Of a text, hexadecimal.
    fileprivate static func of(_ text: String) -> String { ContentDigest(of: Array(text.utf8)).md5.description }
}
