import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct RestoreSelectionTests {
    private let bench: RestoreBench

    init() throws {
        bench = try RestoreBench()
    }

    private func select(_ names: String...) async throws -> RestoreSelection {
        try await RestoreSelection(
            of: names, in: RestoreBench.places, ledger: bench.queue, store: bench.store)
    }

    private func fill() async throws {
        for name in ["Paris/1.jpg", "Paris/2.jpg", "Paris/day/3.jpg", "Rome/1.jpg"] { try await bench.add(name) }
    }

    @Test(
        arguments: [
            ("Paris/1.jpg", ["1.jpg"]),
            ("/pictures/trips/Paris/1.jpg", ["1.jpg"]),
            ("Rome/../Paris/./1.jpg", ["1.jpg"]),
            ("Paris", ["Paris/1.jpg", "Paris/2.jpg", "Paris/day/3.jpg"]),
            ("Paris/", ["Paris/1.jpg", "Paris/2.jpg", "Paris/day/3.jpg"]),
            ("Paris/*.jpg", ["1.jpg", "2.jpg"]),
            ("*/1.jpg", ["Paris/1.jpg", "Rome/1.jpg"]),
            ("Par*", ["Paris/1.jpg", "Paris/2.jpg", "Paris/day/3.jpg"]),
        ] as [(String, [FilePath])])
    func `a name stands for photos, and each has its place below a folder of downloads`(
        name: String, destinations: [FilePath]
    ) async throws {
        try await fill()
        let selection = try await select(name)
        #expect(selection.problems == [])
        #expect(Set(selection.objects.map(\.destination)) == Set(destinations))
        #expect(selection.objects.count == destinations.count)
    }

    @Test func `a vacation is found by its name from any folder`() async throws {
        try await fill()
        var places = RestoreBench.places
        places.workingFolder = "/home/ana"
        let selection = try await RestoreSelection(
            of: ["Paris"], in: places, ledger: bench.queue, store: bench.store)
        #expect(selection.objects.map(\.path?.lastComponent) == ["1.jpg", "2.jpg", "3.jpg"])
    }

    @Test func `a photo that was deleted from the disk is found where it was`() async throws {
        try await fill()
        try bench.delete("Paris")
        #expect(try await select("Paris/1.jpg", "Paris/[2-9].jpg").objects.count == 2)
    }

    @Test func `a watched folder behind a link is found by both of its names`() async throws {
        try await fill()
        var places = RestoreBench.places
        places.workingFolder = "/mnt/disk/trips"
        places.candidates = { path in
            var rest = path
            return rest.removePrefix("/mnt/disk/trips") ? [path, RestoreBench.trips.pushing(rest)] : [path]
        }
        let selection = try await RestoreSelection(
            of: ["Paris/1.jpg", "R*/1.jpg"], in: places, ledger: bench.queue, store: bench.store)
        #expect(selection.objects.map(\.destination) == ["1.jpg", "Rome/1.jpg"])
    }

    @Test func `a name that another machine has as well means both, and an id one of them`() async throws {
        let key = try await bench.add("Rome/1.jpg")
        let folder = try bench.ledger.folderForCatalog(
            .gallery, at: "/machines/laptop/pictures/trips", of: .machine("0123"))
        let photo = CatalogPhoto(
            place: CatalogPlace(folder: 0, path: "Oslo/9.jpg"), file: CatalogPhoto.File(size: 1, modified: Int64(1)),
            md5: nil, key: key, sha256: nil, size: 1, contentType: "image/jpeg")
        try bench.ledger.noteCatalog([photo], in: [0: folder], at: bench.time.now)
        func places(_ machine: String) async throws -> Set<FilePath> {
            let selection = try await RestoreSelection(
                of: [], scope: RestoreScope(machine: machine, ownName: "laptop"), in: RestoreBench.places,
                ledger: bench.queue, store: bench.store)
            return Set(selection.objects.flatMap { [$0.destination] + $0.further.map(\.destination) })
        }
        let (mine, others): (FilePath, FilePath) = ("trips/Rome/1.jpg", "machines/laptop/trips/Oslo/9.jpg")
        #expect(try await places("laptop") == [mine, others])
        #expect(try await places("0123") == [others])
    }

    /// Photos of two other machines of one name.
    private func addNamesakes() async throws {
        try await bench.add("Rome/1.jpg")
        for (id, name) in [("0123", "Oslo/2.jpg"), ("4567", "Oslo/3.jpg")] {
            let key = try await bench.add(name)
            let folder = try bench.ledger.folderForCatalog(
                .gallery, at: FilePath("/machines/laptop-\(id)/pictures/trips"), of: .machine(id))
            let photo = CatalogPhoto(
                place: CatalogPlace(folder: 0, path: FilePath("Bergen/\(id).jpg")),
                file: CatalogPhoto.File(size: 1, modified: Int64(1)), md5: nil, key: key, sha256: nil, size: 1,
                contentType: "image/jpeg")
            try bench.ledger.noteCatalog([photo], in: [0: folder], at: bench.time.now)
        }
    }

    @Test func `of two other machines of one name neither is meant by it, and both are named`() async throws {
        try await addNamesakes()
        func select(_ machine: String) async throws -> RestoreSelection {
            try await RestoreSelection(
                of: [], scope: RestoreScope(machine: machine, ownName: "tower"), in: RestoreBench.places,
                ledger: bench.queue, store: bench.store)
        }
        let error = await #expect(throws: UnknownRestoreMachine.self) { try await select("laptop") }
        #expect(error?.namesakes == ["laptop-0123", "laptop-4567"])
        #expect(error?.description.contains("are called laptop: name one of laptop-0123, laptop-4567") == true)
        for name in ["laptop-0123", "0123"] { #expect(try await select(name).objects.count == 1) }
    }

    @Test func `several other machines of this one's name are all meant by it, though each has a folder of its own`()
        async throws
    {
        try await addNamesakes()
        let selection = try await RestoreSelection(
            of: [], scope: RestoreScope(machine: "laptop", ownName: "laptop"), in: RestoreBench.places,
            ledger: bench.queue, store: bench.store)
        let places = selection.objects.flatMap { [$0.destination] + $0.further.map(\.destination) }.map(\.string)
        #expect(
            places.filter { $0.hasPrefix("machines/") }.sorted() == [
                "machines/laptop-0123/trips/Bergen/0123.jpg", "machines/laptop-4567/trips/Bergen/4567.jpg",
            ])
    }

    @Test func `an earlier version has the name of its own photo, though another one has its content`() async throws {
        try await fill()
        let key = try await bench.add("Paris/again.jpg", "Paris/1.jpg")
        let photo: FilePath = "/pictures/trips/Paris/now.jpg"
        var scope = RestoreScope()
        scope.versions = [key: [photo]]
        let selection = try await RestoreSelection(
            of: [key.rawValue], scope: scope, in: RestoreBench.places, ledger: bench.queue, store: bench.store)
        #expect(selection.objects.map(\.destination) == ["now.jpg"])
        #expect(selection.objects.map(\.path) == [photo])
    }

    @Test func `an earlier version that two photos have in common comes under both of their names`() async throws {
        try await fill()
        let key = try await bench.add("Paris/again.jpg", "Paris/1.jpg")
        let photos: [FilePath] = ["/pictures/trips/Paris/a.jpg", "/pictures/trips/Rome/a.jpg"]
        var scope = RestoreScope()
        scope.versions = [key: photos]
        let selection = try await RestoreSelection(
            of: [key.rawValue, key.rawValue], scope: scope, in: RestoreBench.places, ledger: bench.queue,
            store: bench.store)
        let object = try #require(selection.objects.first)
        #expect(selection.objects.count == 1)
        #expect([object.path].compactMap(\.self) + object.further.map(\.path) == photos)
        #expect([object.destination] + object.further.map(\.destination) == ["a.jpg", "Rome/a.jpg"])
    }

    @Test func `an object that is named twice is restored once`() async throws {
        try await fill()
        let key = try await bench.add("Paris/again.jpg", "Paris/1.jpg")
        let selection = try await select("Paris/1.jpg", "Paris", key.rawValue)
        #expect(selection.objects.map(\.record.key).filter { $0 == key }.count == 1)
        #expect(selection.objects.count == 3)
    }

    @Test func `photos of different folders that have one name each have a place of their own`() async throws {
        try await fill()
        try await bench.add("Rome/x/1.jpg")
        let destinations = try await select("Paris/1.jpg", "Rome/1.jpg", "Rome/x/1.jpg").objects.map(\.destination)
        #expect(destinations == ["1.jpg", "Rome/1.jpg", "x/1.jpg"])
    }

    @Test func `what is not stored yet is a problem, with the reason`() async throws {
        try await fill()
        try bench.observe("Paris/new.jpg")
        let selection = try await select("Paris")
        #expect(selection.objects.count == 3)
        #expect(selection.problems.map(\.name) == ["/pictures/trips/Paris/new.jpg"])
        #expect(selection.problems.map(\.reason) == [.noMD5("it waits for its turn")])
    }

    @Test func `what belonged to a photo and is lost is a problem, told once`() async throws {
        try await bench.add("Paris/1.jpg")
        let key = try await bench.add("Paris/1.xmp")
        try bench.delete("Paris/1.xmp")
        let record = try #require(try bench.ledger.object(key))
        _ = try bench.ledger.markBroken([BrokenObject(record, .missing)], at: bench.time.now)
        for name in ["Paris/1.jpg", "Paris/1.*", "Paris"] {
            let selection = try await select(name)
            #expect(selection.objects.map(\.path) == ["/pictures/trips/Paris/1.jpg"], "\(name)")
            #expect(selection.problems.map(\.name) == ["/pictures/trips/Paris/1.xmp"], "\(name)")
            #expect(isLost(selection, hasVersions: false))
        }
    }

    private func isLost(_ selection: RestoreSelection, hasVersions: Bool) -> Bool {
        selection.problems.allSatisfy { problem in
            if case .lost(_, hasVersions: hasVersions) = problem.reason { true } else { false }
        }
    }

    @Test func `a photo that is lost is no file that has changed, and an earlier version of it is told`() async throws {
        try await bench.add("Paris/1.jpg")
        let key = try await bench.add("Paris/1.jpg", "another content of the file")
        try bench.delete("Paris/1.jpg")
        let record = try #require(try bench.ledger.object(key))
        _ = try bench.ledger.markBroken([BrokenObject(record, .missing)], at: bench.time.now)
        let selection = try await select("Paris/1.jpg")
        #expect(selection.objects == [] && selection.problems.count == 1)
        #expect(isLost(selection, hasVersions: true))
    }

    @Test func `what was stored of a file that has changed since keeps its name, and is told of`() async throws {
        let key = try await bench.add("Paris/1.jpg")
        try bench.observe("Paris/1.jpg", "another content of the file")
        let selection = try await select("Paris/1.jpg")
        #expect(selection.objects == [])
        #expect(selection.problems.map(\.reason) == [.changed("it waits for its turn")])
        #expect(try await select(key.rawValue).objects.map(\.destination) == ["1.jpg"])
    }

    @Test(arguments: [
        "nothing.jpg", "Par?", "vacationphotos://share/none", "users/ana/photos/none.dat", "", "/", "a//b",
    ])
    func `a name of which nothing is known is a problem`(name: String) async throws {
        try await bench.add("Berlin/1.jpg")
        let selection = try await select(name, "Berlin/1.jpg")
        // "/" is above all photos, and means them.
        let isKnown = name == "/"
        #expect(selection.problems.map(\.name) == (isKnown ? [] : [name]))
        #expect(selection.problems.allSatisfy { $0.reason == .unknown })
        #expect(selection.objects.count == 1)
    }

    @Test func `a share is every object of it, each in the share's folder`() async throws {
        for name in ["abc/vacation.json", "abc/abc_0.jpg", "abcd/vacation.json", "x/vacation.json"] {
            try await bench.memory.store([1], at: ObjectKey("shares/\(name)"))
        }
        let selection = try await select("vacationphotos://share/abc", "vacationphotos://share/x")
        #expect(
            selection.objects.map(\.destination) == ["abc/abc_0.jpg", "abc/vacation.json", "x/vacation.json"])
        #expect(selection.objects.allSatisfy { $0.path == nil })
    }

    @Test(arguments: ["vacationphotos://share/..", "vacationphotos://share/a/b", "vacationphotos://share/"])
    func `a share id that is none leads nowhere`(name: String) async throws {
        try await bench.memory.store([1], at: ObjectKey("shares/a/b/vacation.json"))
        #expect(try await select(name).problems.map(\.reason) == [.unknown])
        #expect(bench.store.count(.list) == 0)
    }

    @Test func `a key is looked up in the ledger, then in the store`() async throws {
        let known = try await bench.add("Paris/1.jpg")
        let other = try ObjectKey("users/bob/photos/0123456789abcdef0123456789abcdef.dat")
        try await bench.memory.store([1, 2], at: other)
        let selection = try await select(known.rawValue, other.rawValue)
        #expect(selection.objects.map(\.record.size) == [11, 2])
        #expect(bench.store.lines == ["head \(other)"])
    }
}
