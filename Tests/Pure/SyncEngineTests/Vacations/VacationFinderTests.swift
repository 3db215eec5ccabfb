import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct VacationFinderTests {
    private func machine() async throws -> VacationMachine {
        let machine = try VacationMachine()
        let folders = [
            "Paris_France_2024-06-15_2024-06-22", "Rome_2023", "Rome_2024", "rome_2024", "Zu\u{308}rich", "Nice_2022",
            "Nice_2023",
        ]
        for folder in folders {
            machine.disk.write("photo in \(folder)", to: VacationMachine.root.pushing(FilePath("\(folder)/1.jpg")))
        }
        for folder in ["Rome_2023", "Rome_2024"] {
            machine.describe(#"{"locationName": "Rome"}"#, in: VacationMachine.root.appending(folder))
        }
        try await machine.pass()
        return machine
    }

    @Test(arguments: [
        ("/pictures/vacations/Rome_2024", "Rome_2024"), ("vacations/Rome_2024/", "Rome_2024"),
        ("vacations/../vacations/Rome_2023", "Rome_2023"), ("/links/trips/Rome_2023", "Rome_2023"),
        ("Rome_2024", "Rome_2024"), ("rome_2024", "rome_2024"), ("ROME_2023", "Rome_2023"),
        ("Paris France", "Paris_France_2024-06-15_2024-06-22"),
        ("paris france", "Paris_France_2024-06-15_2024-06-22"),
        ("Paris_France_2024-06-15_2024-06-22_1", "Paris_France_2024-06-15_2024-06-22"),
        ("Z\u{FC}rich", "Zu\u{308}rich"),
    ])
    func `a vacation has many names`(name: String, folder: String) async throws {
        let vacation = try await machine().finder.find(name)
        #expect(vacation.folder == VacationMachine.root.appending(folder))
        #expect(vacation.photos.map(\.name) == ["1.jpg"] && vacation.waiting == 0)
    }

    @Test(arguments: ["Rome", "ROME_2024", "rome"])
    func `a name of several is not guessed`(name: String) async throws {
        let finder = try await machine().finder
        let error = await #expect(throws: VacationLookupError.self) { try await finder.find(name) }
        guard case .ambiguous(_, let folders)? = error else {
            Issue.record("\(error.debugDescription)")
            return
        }
        #expect(folders.count == 2)
    }

    @Test(arguments: [
        ("Rom_2023", ["Rome_2023", "Rome_2024", "rome_2024"]), ("Paris", ["Paris_France_2024-06-15_2024-06-22"]),
        ("Oslo", []), ("", []), ("/", []), ("/pictures/vacations", []),
    ])
    func `an unknown name is answered with those that are near`(name: String, near: [String]) async throws {
        let finder = try await machine().finder
        await #expect(throws: VacationLookupError.unknown(name, near: near)) { try await finder.find(name) }
    }

    @Test(arguments: ["Paris", "paris", "Paris_France", "PARIS_FRANCE_2024"])
    func `a folder is found by the words with which its name begins`(words: String) async throws {
        let finder = try await machine().finder
        #expect(try await finder.folder(named: words) == VacationMachine.paris)
    }

    @Test(arguments: ["Pari", "France"])
    func `a part of a word, and a word from within, are not guessed`(name: String) async throws {
        let finder = try await machine().finder
        await #expect(throws: VacationLookupError.unknown(name, near: ["Paris_France_2024-06-15_2024-06-22"])) {
            try await finder.folder(named: name)
        }
    }

    @Test func `words with which several begin are answered with their folders`() async throws {
        let finder = try await machine().finder
        let folders = ["Nice_2022", "Nice_2023"].map { VacationMachine.root.pushing(FilePath($0)) }
        let error = await #expect(throws: VacationLookupError.self) { try await finder.folder(named: "nice") }
        guard case .ambiguous("nice", let found)? = error else {
            Issue.record("\(error.debugDescription)")
            return
        }
        #expect(Set(found) == Set(folders))
    }

    @Test func `a new folder of a name comes before an older one whose name begins with it`() async throws {
        let machine = try await machine()
        #expect(try await machine.finder.folder(named: "Paris") == VacationMachine.paris)
        let new = VacationMachine.root.appending("Paris")
        machine.disk.write("a new photo", to: new.appending("1.jpg"))
        #expect(try await machine.finder.folder(named: "Paris") == new)
    }

    @Test func `what is not stored yet is told, and what failed is counted`() async throws {
        let machine = try VacationMachine()
        for number in 1...3 {
            machine.disk.write("\(100 - number) taken", to: VacationMachine.paris.appending("\(number).jpg"))
        }
        machine.disk.write("text", to: VacationMachine.root.pushing(FilePath("Notes/a.txt")))
        try machine.store(leaving: 1)
        let vacation = try await machine.finder.find("Paris France")
        #expect(vacation.photos.count == 3 && vacation.waiting == 1)
        #expect(vacation.cacheKey == "Paris_France_2024-06-15_2024-06-22_3")
        #expect(vacation.photos.map(\.isStored) == [true, true, false])
        await #expect(throws: VacationLookupError.self) { try await machine.finder.find("Notes") }
        #expect(try await machine.finder.vacation(in: VacationMachine.paris)?.id == vacation.id)
        #expect(try await machine.finder.vacation(in: "/elsewhere") == nil)
    }
}
