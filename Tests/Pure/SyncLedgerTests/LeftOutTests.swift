import SyncCore
import SyncLedger
import SystemPackage
import Testing

@Suite struct LeftOutTests {
    private let world: World

    init() throws { world = try World() }

    private func skip(_ path: FilePath, _ leftOut: LeftOut?) throws {
        world.write(path)
        try world.scan()
        let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        try world.ledger.commit(
            claim, outcome: .skipped("because of \(leftOut?.rawValue ?? "-")", leftOut), at: world.now)
    }

    @Test func `what a filter leaves out is counted by itself, and not named`() throws {
        try skip("/pictures/gallery/a.jpg", .filtered)
        #expect(try world.ledger.leftOut(naming: 5) == LeftOutSummary(filtered: 1))
    }

    @Test(arguments: LeftOut.allCases.filter { $0 != .filtered })
    func `what is left out is counted and named, whatever the reason`(reason: LeftOut) throws {
        try skip("/pictures/gallery/a.jpg", reason)
        try skip("/pictures/gallery/notes.txt", nil)
        let summary = try world.ledger.leftOut(naming: 5)
        #expect(summary.count == 1)
        #expect(
            summary.items == [
                LeftOutSummary.Item(path: "/pictures/gallery/a.jpg", reason: "because of \(reason.rawValue)")
            ])
    }

    @Test func `all are counted, and no more are named than were asked for`() throws {
        for number in 1...4 { try skip(FilePath("/pictures/gallery/\(number).jpg"), .duplicate) }
        let summary = try world.ledger.leftOut(naming: 2)
        #expect(summary.count == 4)
        #expect(summary.items.map(\.path) == ["/pictures/gallery/1.jpg", "/pictures/gallery/2.jpg"])
    }

    @Test func `a file that is stored after all is no longer left out`() throws {
        try skip("/pictures/gallery/a.jpg", .unrecorded)
        world.write("/pictures/gallery/a.jpg")
        try world.scan()
        #expect(try world.ledger.leftOut(naming: 5) == LeftOutSummary())
        try world.storeAll()
        #expect(try world.ledger.leftOut(naming: 5) == LeftOutSummary())
    }

    @Test func `elements of an event file that are no events count one by one`() throws {
        world.write("/pictures/gallery/june.json")
        try world.scan()
        let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        let note = EventFileNote(events: 1, malformed: 3, text: "1 event, 3 malformed")
        try world.ledger.commit(claim, outcome: .skipped("events without photos"), note: note, at: world.now)
        let summary = try world.ledger.leftOut(naming: 5)
        #expect(summary.count == 3)
        #expect(
            summary.items == [LeftOutSummary.Item(path: "/pictures/gallery/june.json", reason: "1 event, 3 malformed")])
    }
}
