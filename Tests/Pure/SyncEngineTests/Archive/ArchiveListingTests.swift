import FoundationEssentials
import SyncCore
import SyncTestSupport
import Testing

@testable import SyncEngine

@Suite struct ArchiveListingTests {
    private let bench: ArchiveBench

    init() async throws {
        bench = try ArchiveBench()
        try await bench.put("a", "2025-03-31T23:59:59Z", profile: "p2")
        try await bench.put("b", "2025-03-10T08:00:00Z", profile: "p1")
        try await bench.put("c", "2025-03-10T08:00:00Z", profile: "p2", type: "profileCreated")
        try await bench.put("d", "2025-03-01T00:00:00Z", profile: "p1")
        try await bench.put("e", "2024-12-24T18:00:00Z", profile: "p3")
        try await bench.put("f", "2024-02-29T12:00:00Z", profile: "p1", type: nil)
    }

    @Test func `the newest is first, whosever it is`() async throws {
        #expect(try await bench.ids() == ["a", "b", "c", "d", "e", "f"])
    }

    @Test func `a photo that cannot be looked at is named, and the others are listed`() async throws {
        let key = try bench.keys.archivedPhoto(
            profile: "p1", month: CalendarDay(ArchiveBench.date("2025-03-10T08:00:00Z")), event: "b")
        bench.memory.makeUnreadable(key)
        let page = try await bench.list.page(ArchiveFilter(), limit: nil)
        #expect(page.photos.map(\.place.eventID) == ["a", "c", "d", "e", "f"])
        #expect(page.problems.first.map(\.key) == [key])
    }

    @Test(arguments: [StoreFault.Effect.sayAbsent, .failBefore(.accessDenied)])
    func `a photo that is listed and not given is named, and one that is deleted meanwhile is left out`(
        effect: StoreFault.Effect
    ) async throws {
        let month = CalendarDay(try ArchiveBench.date("2025-03-10T08:00:00Z"))
        let kept = try bench.keys.archivedPhoto(profile: "p1", month: month, event: "b")
        let gone = try bench.keys.archivedPhoto(profile: "p2", month: month, event: "c")
        bench.store.add(StoreFault(.head, key: kept.rawValue, effect))
        bench.store.add(
            StoreFault(.head, key: gone.rawValue, .meanwhile { [memory = bench.memory] in memory.lose(gone) }))
        let page = try await bench.list.page(ArchiveFilter(), limit: nil)
        #expect(page.photos.map(\.place.eventID) == ["a", "d", "e", "f"])
        #expect(page.problems.first.map(\.key) == [kept])
    }

    @Test(arguments: [StoreError.Code.accessDenied, .invalidResponse])
    func `a store that lists and gives nothing is not asked for each photo`(code: StoreError.Code) async throws {
        for index in 0..<60 { try await bench.put("more-\(index)", "2025-03-15T08:00:00Z") }
        bench.store.add(StoreFault(.head, .failBefore(code)))
        let error = await #expect(throws: StoreError.self) { try await bench.list.page(ArchiveFilter(), limit: nil) }
        #expect(error?.code == code && error?.key == nil)
        #expect(error?.message.contains("in a row") == true)
        // Those that were under way when it was enough come to their end.
        #expect(bench.store.count(.head) < 40)
    }

    @Test func `photos that are denied while others are given end nothing, however many they are`() async throws {
        for index in 0..<60 { try await bench.put("more-\(index)", "2024-12-15T08:00:00Z", profile: "p9") }
        for index in 0..<60 {
            let month = CalendarDay(try ArchiveBench.date("2024-12-15T08:00:00Z"))
            let key = try bench.keys.archivedPhoto(profile: "p9", month: month, event: "more-\(index)")
            bench.store.add(StoreFault(.head, key: key.rawValue, .failBefore(.accessDenied)))
        }
        let page = try await bench.list.page(ArchiveFilter(), limit: nil)
        #expect(page.photos.map(\.place.eventID) == ["a", "b", "c", "d", "e", "f"])
        #expect(page.problems.count == 60)
    }

    @Test func `photos that are denied end no page that begins among them`() async throws {
        try await bench.put("newest", "2025-05-01T08:00:00Z")
        for index in 0..<30 {
            let key = try await bench.put("denied-\(index)", "2025-03-15T08:00:00Z", profile: "p0")
            bench.store.add(StoreFault(.head, key: key.rawValue, .failBefore(.accessDenied)))
        }
        let first = try await bench.list.page(ArchiveFilter(), limit: 2)
        let second = try await bench.list.page(ArchiveFilter(), after: first.next, limit: 2)
        #expect((first.photos + second.photos).map(\.place.eventID) == ["newest", "a", "b", "c"])
    }

    @Test(arguments: 1...7)
    func `pages of any size tell each photo once, and the last says so`(limit: Int) async throws {
        var seen: [String] = []
        var last: ObjectKey?
        repeat {
            let page = try await bench.list.page(ArchiveFilter(), after: last, limit: limit)
            #expect(page.photos.count == min(limit, 6 - seen.count))
            #expect(page.next == nil || page.next == page.photos.last?.key)
            seen += page.photos.map(\.place.eventID)
            last = page.next
        } while last != nil
        #expect(seen == ["a", "b", "c", "d", "e", "f"])
    }

    @Test(arguments: [
        (ArchiveFilter(profiles: ["p1"]), ["b", "d", "f"]),
        (ArchiveFilter(profiles: ["P1"]), []), (ArchiveFilter(profiles: ["P1"], ignoresCase: true), ["b", "d", "f"]),
        (ArchiveFilter(profiles: ["p"]), []), (ArchiveFilter(profiles: ["p3", "p1"]), ["b", "d", "e", "f"]),
        (ArchiveFilter(from: CalendarDay("2025-03-10")), ["a", "b", "c"]),
        (ArchiveFilter(to: CalendarDay("2025-03-10")), ["b", "c", "d", "e", "f"]),
        (ArchiveFilter(from: CalendarDay("2024-12-24"), to: CalendarDay("2024-12-24")), ["e"]),
        (ArchiveFilter(from: CalendarDay("2025-01-01"), to: CalendarDay("2025-03-09")), ["d"]),
        (ArchiveFilter(profiles: ["p2"], from: CalendarDay("2025-03-01"), to: CalendarDay("2025-03-30")), ["c"]),
        (ArchiveFilter(profiles: ["p1"], from: CalendarDay("2024-02-01"), to: CalendarDay("2024-12-31")), ["f"]),
        (ArchiveFilter(type: .profileCreated), ["c"]),
        (ArchiveFilter(type: .taskResponse), ["a", "b", "d", "e"]),
    ])
    func `only what is meant is listed`(filter: ArchiveFilter, expected: [String]) async throws {
        #expect(try await bench.ids(filter) == expected)
    }

    @Test func `a page has no next one when what comes after it is not meant`() async throws {
        let filter = ArchiveFilter(from: CalendarDay("2025-03-10"))
        #expect(try await bench.list.page(filter, limit: 3).next == nil)
        #expect(try await bench.list.page(filter, limit: 2).next != nil)
        #expect(try await bench.list.page(ArchiveFilter(type: .profileCreated), limit: 1).next == nil)
    }

    @Test func `a page asks for the months that it reaches into, and for no other`() async throws {
        _ = try await bench.list.page(ArchiveFilter(), limit: 4)
        #expect(bench.store.count(.list) == 1)
        // The four of March.
        #expect(bench.store.count(.head) == 4)
    }

    @Test func `a page goes on with older months when what it counted on cannot be looked at`() async throws {
        // All four of March.
        bench.store.add(StoreFault(.head, numbers: 1...4, .failBefore(.badDigest)))
        let page = try await bench.list.page(ArchiveFilter(), limit: 3)
        #expect(page.photos.map(\.place.eventID) == ["e", "f"])
        #expect(page.next == nil)
        #expect(page.problems.count == 4)
        #expect(bench.store.count(.list) == 2)
        let first = try await bench.list.page(ArchiveFilter(), limit: 3)
        #expect(first.photos.map(\.place.eventID) == ["a", "b", "c"])
        #expect(first.next == first.photos.last?.key)
        #expect(bench.store.count(.list) == 3)
    }

    @Test func `pages of a listing of several pages tell each photo once`() async throws {
        for index in 0..<2_200 {
            // By profile first: each page of the listing reaches into all of the months.
            try await bench.put(
                "many-\(10_000 + index)", "2024-0\(1 + index % 9)-15T08:00:00Z", profile: "q\(index / 300)")
        }
        let all = try await bench.ids()
        #expect(all.count == 2_206)
        for limit in [1, 300, 2_000] {
            var seen: [String] = []
            var last: ObjectKey?
            // The first few tell enough.
            for _ in 0..<4 {
                let page = try await bench.list.page(ArchiveFilter(), after: last, limit: limit)
                seen += page.photos.map(\.place.eventID)
                last = page.next
                if last == nil { break }
            }
            #expect(seen == Array(all.prefix(4 * limit)), "pages of \(limit)")
            #expect((last == nil) == (seen.count == all.count), "pages of \(limit)")
        }
    }

    @Test(arguments: [
        (ArchiveFilter(), "gallery-archive/ana/"),
        (ArchiveFilter(profiles: ["p1"]), "gallery-archive/ana/p1/"),
        (
            ArchiveFilter(profiles: ["p1"], from: CalendarDay("2025-01-05"), to: CalendarDay("2025-12-05")),
            "gallery-archive/ana/p1/2025/"
        ),
        (
            ArchiveFilter(profiles: ["p1"], from: CalendarDay("2025-03-05"), to: CalendarDay("2025-03-06")),
            "gallery-archive/ana/p1/2025/03/"
        ),
        (
            ArchiveFilter(profiles: ["p1"], from: CalendarDay("2024-03-05"), to: CalendarDay("2025-03-06")),
            "gallery-archive/ana/p1/"
        ),
        (ArchiveFilter(from: CalendarDay("2025-03-05"), to: CalendarDay("2025-03-06")), "gallery-archive/ana/"),
    ])
    func `the listing is as narrow as the filter`(filter: ArchiveFilter, prefix: String) async throws {
        _ = try await bench.ids(filter)
        #expect(bench.store.calls.first { $0.operation == .list }?.key == prefix)
    }

    @Test func `a month of more photos than one listing tells is whole`() async throws {
        for index in 0..<1_100 {
            try await bench.put("many-\(10_000 + index)", "2026-01-\(10 + index % 20)T08:00:00Z")
        }
        let page = try await bench.list.page(ArchiveFilter(from: CalendarDay("2026-01-01")), limit: nil)
        #expect(page.photos.count == 1_100)
        #expect(zip(page.photos, page.photos.dropFirst()).allSatisfy { $0.createdAt >= $1.createdAt })
    }

    @Test func `what is not an archived photo of the user is not listed`() async throws {
        for key in [
            "gallery-archive/anabel/p/2025/03/x.jpg", "gallery-archive/ana/x.jpg",
            "gallery-archive/ana/p/2025/13/x.jpg",
            "gallery-archive/ana/p/2025/3/x.jpg", "gallery-archive/ana/p/2025/03/x.json",
            "gallery-archive/ana/p/2025/03/.jpg", "gallery-archive/ana/p/2025/03/y/x.jpg",
        ] { try await bench.memory.store([1], at: ObjectKey(key)) }
        #expect(try await bench.ids().count == 6)
    }

    @Test func `a photo that tells nothing of itself stands at the end of its month`() async throws {
        let key = try await bench.put("bare", "2025-03-20T08:00:00Z", noting: false)
        #expect(try await bench.ids() == ["a", "b", "c", "bare", "d", "e", "f"])
        let found = try await bench.list.page(ArchiveFilter(), limit: nil).photos.first { $0.key == key }
        #expect(try found?.createdAt == ArchiveBench.date("2025-03-01T00:00:00Z"))
        #expect(found?.type == nil)
    }

    @Test func `a page after a photo that is gone is refused, and not begun anew`() async throws {
        let gone = try ObjectKey("gallery-archive/ana/p1/2025/03/gone.jpg")
        await #expect(throws: ArchiveListing.UnknownPhoto.self) { try await bench.ids(after: gone) }
    }

    @Test func `a photo that goes between two requests is left out`() async throws {
        let gate = Gate()
        bench.store.add(StoreFault(.head, number: 1, .hold(gate)))
        async let ids = bench.ids(ArchiveFilter(profiles: ["p3"]))
        await gate.waitForArrivals(1)
        for key in bench.memory.keys { try await bench.memory.delete(key) }
        gate.open()
        #expect(try await ids.isEmpty)
    }

    @Test(arguments: [
        (StorageClass.standard, RestoreState.none, ArchivedGalleryPhoto.Status.readable),
        (.glacierInstantRetrieval, .none, .readable),
        (.deepArchive, .none, .archived),
        (.glacier, .inProgress, .retrieving),
        (.deepArchive, .restored(until: nil), .restored),
    ])
    func `class and restore tell whether it can be read`(
        storageClass: StorageClass, restore: RestoreState, status: ArchivedGalleryPhoto.Status
    ) async throws {
        let key = try await bench.put(
            "x", "2026-01-01T00:00:00Z", title: "Pills", class: storageClass, restore: restore)
        let memory = try #require(try await bench.list.page(ArchiveFilter(), limit: 1).photos.first)
        #expect(memory.key == key)
        #expect(memory.status == status)
        #expect(memory.isReadable == (status == .readable || status == .restored))
        #expect(memory.title == "Pills")
        #expect(try memory.archivedAt == ArchiveBench.date("2025-12-31T03:00:00Z"))
        #expect((memory.width, memory.height) == (40, 30))
    }

    @Test func `a store that is away ends it`() async throws {
        bench.store.add(StoreFault(.head, number: 2, .failBefore(.unreachable)))
        await #expect { try await bench.ids() } throws: { ($0 as? StoreError)?.code == .unreachable }
    }
}
