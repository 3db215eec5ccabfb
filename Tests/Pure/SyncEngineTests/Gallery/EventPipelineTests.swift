import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct EventPipelineTests {
    private static let file = Bench.gallery.appending("events.json")

    private func event(_ id: String, photo: String?) -> String {
        let data = photo.map { #","photoData":"\#(Data($0.utf8).base64EncodedString())""# } ?? ""
        return Self.event(id, member: data)
    }

    private static func event(_ id: String, member: String) -> String {
        #"{"id":"\#(id)","userId":"u","profileId":"p","eventType":"taskResponse","createdAt":1760948130,"#
            + #""taskTitle":"Pills","text":"dear diary"\#(member)}"#
    }

    private func write(_ events: [String], to bench: Bench, _ path: FilePath = file) {
        bench.disk.write("[" + events.joined(separator: ",") + "]", to: path)
    }

    private func key(_ photo: String) throws -> ObjectKey {
        try KeyLayout(user: "ana").photo(PhotoID(ContentDigest(of: Array(photo.utf8)).md5))
    }

    /// Runs to the end; the gate opens when so many have come to it, and something else has been done.
    private func run(
        _ pipeline: PhotoPipeline, opening gate: Gate, after arrivals: Int, meanwhile: () -> Void = {}
    ) async throws {
        async let run: Void = pipeline.run(.untilDone(patience: .zero))
        await gate.waitForArrivals(arrivals)
        meanwhile()
        gate.open()
        try await run
    }

    @Test func `the photos of events are stored like any other, and nothing else of them`() async throws {
        let bench = try Bench()
        write([event("e1", photo: "sunset"), event("e2", photo: nil), event("e3", photo: "beach")], to: bench)
        try await bench.pass()
        let keys = try [key("sunset"), key("beach")]
        #expect(bench.memory.keys == keys.sorted())
        #expect(try bench.memory.content(key("sunset")) == Array("SUNSET".utf8))
        #expect(
            try bench.memory.info(key("sunset"))?.metadata["md5"]
                == ContentDigest(of: Array("sunset".utf8)).md5.description)
        let status = try #require(try bench.status(Self.file))
        #expect(status.state == .uploaded)
        #expect(try status.key == key("sunset"))
        #expect(status.note == "3 events, 2 photos stored")
        #expect(status.error == nil)
        #expect(bench.events.summary.uploaded == 1)
        #expect(bench.events.summary.bytesSent == 11)
        #expect(try bench.ledger.eventCounts().photos == [.stored: 2, EventPhotoState.none: 1])
    }

    @Test func `photos of a file that is below a link for a while are stored when it is not`() async throws {
        let bench = try Bench()
        write([event("e1", photo: "sunset"), event("e2", photo: "beach")], to: bench)
        let disk = bench.disk
        disk.onPhoto { _ in disk.setBelowLink(Self.file, true) }
        try bench.scan()
        try await bench.makePipeline(batchSize: 1).run(.untilDone(patience: .zero))
        #expect(try bench.status(Self.file)?.state == .pending)
        disk.onPhoto { _ in }
        disk.setBelowLink(Self.file, false)
        try bench.ledger.makeAllDue(at: bench.time.now)
        try await bench.pass()
        #expect(try bench.status(Self.file)?.state == .uploaded)
        #expect(try bench.ledger.eventCounts().photos == [.stored: 2])
    }

    @Test func `a second pass sends nothing, and a replay in another file does not either`() async throws {
        let bench = try Bench()
        write([event("e1", photo: "sunset")], to: bench)
        try await bench.pass()
        write([event("e1", photo: "sunset")], to: bench, Bench.gallery.appending("copy.json"))
        try await bench.pass()
        #expect(bench.store.count(.put) == 1)
        #expect(try bench.ledger.eventCounts().retention == [.kept: 1])
        #expect(try bench.states().values.allSatisfy { $0 == .uploaded })
    }

    @Test func `an edited photo is stored too, as that of another event with the id`() async throws {
        let bench = try Bench()
        write([event("e1", photo: "sunset")], to: bench)
        try await bench.pass()
        write([event("e1", photo: "sunset, cut")], to: bench)
        try await bench.pass()
        #expect(try bench.memory.keys == [key("sunset"), key("sunset, cut")].sorted())
        let objects = try bench.ledger.events(withID: "e1").map(\.object?.key)
        #expect(try objects == [key("sunset"), key("sunset, cut")])
        #expect(try bench.status(Self.file)?.key == key("sunset, cut"))
        #expect(
            try bench.status(Self.file)?.note
                == "1 event, 1 photo stored, 1 with an id that another event has: #1 e1")
    }

    @Test func `another photo under a known id is stored and named, in its file or in a second one`() async throws {
        let bench = try Bench()
        let other = Bench.gallery.appending("other.json")
        write([event("e1", photo: "sunset"), event("e1", photo: "beach"), event("e1", photo: nil)], to: bench)
        try await bench.pass()
        write([event("e1", photo: "forest")], to: bench, other)
        try await bench.pass()
        #expect(try bench.memory.keys == [key("sunset"), key("beach"), key("forest")].sorted())
        #expect(try bench.ledger.event("e1")?.object?.key == key("sunset"))
        let (note, otherNote) = (try bench.status(Self.file)?.note, try bench.status(other)?.note)
        #expect(note == "2 events, 2 photos stored, 1 with an id that another event has: #2 e1")
        #expect(otherNote == "1 event, 1 photo stored, 1 with an id that another event has: #1 e1")
        #expect(try bench.status(other)?.key == key("forest"))
        write([event("e1", photo: "broken")], to: bench, other)
        try await bench.pass()
        #expect(try bench.status(other)?.state == .failed)
        #expect(try bench.ledger.event("e1")?.photoState == .stored)
    }

    /// Also where the file system denies that one alone.
    @Test(arguments: [(StoreError.Code.serverFailed, false), (.accessDenied, true)])
    func `a photo that cannot be sent for now holds up none of the others`(
        code: StoreError.Code, isOfThisMachine: Bool
    ) async throws {
        let names = (1...6).map { "photo \($0)" }
        let fault = StoreFault(
            .put, key: try key(names[0]).rawValue, number: 1, .failBefore(code, isOfThisMachine: isOfThisMachine))
        let bench = try Bench(faults: [fault])
        write(names.map { event($0, photo: $0) }, to: bench)
        try await bench.pass()
        #expect(try bench.memory.keys == names.dropFirst().map { try key($0) }.sorted())
        #expect(try bench.status(Self.file)?.state == .pending)
        await bench.time.advance(by: .seconds(3_600))
        try await bench.pass()
        #expect(bench.memory.keys.count == 6)
        #expect(bench.store.count(.put) == 7)
        #expect(try bench.status(Self.file)?.state == .uploaded)
    }

    @Test func `types that are not known are kept and named`() async throws {
        let bench = try Bench()
        let events = ["moodChanged", "taskResponse", "sticker", "moodChanged"].enumerated().map { index, type in
            event("e\(index)", photo: nil).replacing("taskResponse", with: type)
        }
        write(events, to: bench)
        try await bench.pass()
        #expect(try bench.status(Self.file)?.note == "4 events, 3 of unknown type: moodChanged, sticker")
        #expect(try bench.ledger.event("e0")?.type.rawValue == "moodChanged")
    }

    @Test func `of a file that grows only new events are stored`() async throws {
        let bench = try Bench()
        write([event("e1", photo: "sunset")], to: bench)
        try await bench.pass()
        let reduced = bench.disk.reduced.count
        write([event("e1", photo: "sunset"), event("e2", photo: "beach")], to: bench)
        try await bench.pass()
        #expect(bench.store.count(.put) == 2)
        #expect(bench.disk.reduced.count == reduced)
        #expect(try bench.status(Self.file)?.note == "2 events, 2 photos stored")
    }

    @Test func `a photo that is also a file, or in another event, is sent once`() async throws {
        let bench = try Bench()
        bench.disk.write("sunset", to: Bench.vacations.appending("a.jpg"))
        write([event("e1", photo: "sunset"), event("e2", photo: "sunset")], to: bench)
        try await bench.pass()
        #expect(bench.store.count(.put) == 1)
        #expect(try bench.ledger.eventCounts().photos == [.stored: 2])
    }

    @Test func `a photo that cannot be decoded is named and holds nobody up`() async throws {
        let bench = try Bench()
        write(
            [
                event("e1", photo: "broken"), event("e2", photo: "beach"), #"{"text":"dear diary"}"#,
                event("e3", photo: "text"),
            ],
            to: bench)
        try await bench.pass()
        let status = try #require(try bench.status(Self.file))
        #expect(status.state == .failed)
        #expect(
            status.note == "3 events, 1 photo stored, 2 failed: #1 e1: Premature end of JPEG file; "
                + "#4 e3: its photo is no picture, 1 malformed: #3 id is missing")
        #expect(status.error == status.note)
        #expect(try bench.memory.keys == [key("beach")])
        #expect(try bench.ledger.event("e2")?.photoState == .stored)
        #expect(try bench.ledger.event("e1")?.problem == "Premature end of JPEG file")
    }

    @Test func `a file without any good photo has failed, and is tried again when it changes`() async throws {
        let bench = try Bench()
        write([event("e1", photo: "broken")], to: bench)
        try await bench.pass()
        #expect(try bench.status(Self.file)?.state == .failed)
        write([event("e1", photo: "whole")], to: bench)
        try await bench.pass()
        #expect(try bench.status(Self.file)?.state == .uploaded)
        // The event with the broken photo is nowhere any more, and forgotten.
        #expect(try bench.ledger.events(withID: "e1").map(\.photoState) == [.stored])
    }

    @Test(
        arguments: [
            (
                #"[{"id":"a","profileId":"p","eventType":"profileCreated","createdAt":1760948130}]"#,
                PhotoState.skipped,
                "gallery events without photos: their text stays on this machine (1 event)"
            ),
            (#"{"name":"settings"}"#, .skipped, "JSON without gallery events; it stays on this machine"),
            (
                #"[{"id":"a","createdAt":1,"text":"dear diary"}]"#, .failed,
                "0 events, 1 malformed: #1 profileId is missing, and its folder has no profile"
            ),
            (
                #"{"id":"a","createdAt":1760948130,"te"#, .failed,
                "0 events, 1 malformed: #1 is damaged at byte 36: the file ends within a text"
            ),
        ])
    func `events without photos, other JSON and what cannot be read are told apart`(
        text: String, state: PhotoState, error: String
    ) async throws {
        let bench = try Bench()
        bench.disk.write(text, to: Self.file)
        try await bench.pass()
        #expect(bench.memory.keys.isEmpty)
        #expect(try bench.status(Self.file)?.state == state)
        #expect(try bench.status(Self.file)?.error == error)
    }

    @Test func `only galleries have events`() async throws {
        let bench = try Bench()
        write([event("e1", photo: "sunset")], to: bench, Bench.vacations.appending("vacation.json"))
        try await bench.pass()
        #expect(bench.memory.keys.isEmpty)
        #expect(try bench.ledger.eventCounts().retention == [:])
    }

    @Test func `a photo beside its event is linked, whichever comes first`() async throws {
        let bench = try Bench()
        write([Self.event("e1", member: #","photoData":"a.jpg""#)], to: bench)
        try await bench.pass()
        #expect(
            try bench.status(Self.file)?.error
                == "1 event, 0 photos stored, 1 waiting: #1 e1: its photo is not beside the file")
        bench.disk.write("sunset", to: Bench.gallery.appending("a.jpg"))
        try await bench.pass()
        #expect(try bench.status(Self.file)?.state == .uploaded)
        #expect(try bench.ledger.event("e1")?.object?.key == key("sunset"))

        let second = Bench.gallery.appending("second.json")
        write([Self.event("e2", member: #","photoData":"a.jpg""#)], to: bench, second)
        try await bench.pass()
        #expect(try bench.status(second)?.state == .uploaded)
        #expect(bench.store.count(.put) == 1)
        #expect(try bench.ledger.check() == [])
    }

    @Test func `an event in two files that are in hand at once is stored once`() async throws {
        let gate = Gate()
        let bench = try Bench(faults: [StoreFault(.put, number: 1, .hold(gate))])
        let other = Bench.gallery.appending("other.json")
        write([event("e1", photo: "sunset")], to: bench)
        write([event("e1", photo: "sunset")], to: bench, other)
        try bench.scan()
        try await run(bench.makePipeline(), opening: gate, after: 1)
        #expect(bench.store.count(.put) == 1)
        #expect(bench.memory.keys.count == 1)
        #expect(try bench.states() == [Self.file.string: .uploaded, other.string: .uploaded])
        #expect(try bench.status(Self.file)?.key == bench.status(other)?.key)
        #expect(try bench.ledger.event("e1")?.object?.key == bench.memory.keys.first)
    }

    @Test func `a photo that comes with its event is linked in the same pass, and nobody is told of waiting`()
        async throws
    {
        let bench = try Bench()
        for number in 1...8 {
            bench.disk.write("photo \(number)", to: Bench.gallery.appending("\(number).jpg"))
            write(
                [Self.event("e\(number)", member: #","photoData":"\#(number).jpg""#)], to: bench,
                Bench.gallery.appending("\(number).json"))
        }
        try await bench.pass()
        #expect(try bench.states().values.count { $0 == .uploaded } == 16)
        #expect(try bench.ledger.eventCounts().photos == [.stored: 8])
        #expect(bench.store.count(.put) == 8)
        #expect(bench.events.summary.postponed == 0)
    }

    @Test func `a photo beside its event that cannot be stored is taken up when it is mended`() async throws {
        let bench = try Bench()
        let photo = Bench.gallery.appending("a.jpg")
        bench.disk.write("broken", to: photo)
        write([Self.event("e1", member: #","photoData":"a.jpg""#)], to: bench)
        try await bench.pass()
        #expect(
            try bench.status(Self.file)?.error
                == "1 event, 0 photos stored, 1 failed: #1 e1: its photo beside the file cannot be stored")
        bench.disk.write("sunset", to: photo)
        try await bench.pass()
        #expect(try bench.status(Self.file)?.state == .uploaded)
        #expect(try bench.ledger.event("e1")?.object?.key == key("sunset"))
    }

    @Test func `what is malformed is told with the outcome of its file`() async throws {
        let bench = try Bench()
        write([event("e1", photo: "sunset"), "17"], to: bench)
        try await bench.pass()
        #expect(bench.events.all.first?.events?.text == "1 event, 1 photo stored, 1 malformed: #2 is no object")
        #expect(bench.events.summary.events == 1)
        #expect(bench.events.summary.malformedEvents == 1)
    }

    @Test func `a put that fails for now in the middle of a file holds up none of its photos`() async throws {
        let bench = try Bench(faults: [StoreFault(.put, number: 2, .failBefore(.unreachable))])
        write((1...4).map { event("e\($0)", photo: "photo \($0)") }, to: bench)
        try await bench.pass()
        #expect(try bench.ledger.eventCounts().photos == [.stored: 3, .pending: 1])
        #expect(try bench.status(Self.file)?.state == .pending)
        await bench.time.advance(by: .seconds(31))
        try await bench.pass()
        #expect(bench.memory.keys.count == 4)
        #expect(bench.store.count(.put) == 5)
        #expect(try bench.status(Self.file)?.note == "4 events, 4 photos stored")
    }

    @Test(arguments: [StoreError.Code.noSpace, .invalidResponse, .unsupported])
    func `three photos in a row that are refused as all would be leave the rest of a file for later`(
        code: StoreError.Code
    ) async throws {
        let bench = try Bench(faults: [StoreFault(.put, numbers: 1...3, .failBefore(code))])
        write((1...20).map { event("e\($0)", photo: "photo \($0)") }, to: bench)
        try bench.scan()
        try await bench.makePipeline(batchSize: 1).run(.untilDone(patience: .zero))
        #expect(bench.store.count(.put) == 3)
        #expect(try bench.status(Self.file)?.state == .pending)
        await bench.time.advance(by: .seconds(60))
        try await bench.pass()
        #expect(try bench.ledger.eventCounts().photos == [.stored: 20])
        #expect(try bench.status(Self.file)?.state == .uploaded)
    }

    @Test func `a file that changes while its photos are sent is read anew`() async throws {
        let gate = Gate()
        let bench = try Bench(faults: [StoreFault(.put, number: 1, .hold(gate))])
        write([event("e1", photo: "one"), event("e2", photo: "two")], to: bench)
        try bench.scan()
        // One photo in flight: the second one comes after the change.
        try await run(bench.makePipeline(batchSize: 1), opening: gate, after: 1) {
            write([event("e3", photo: "three")], to: bench)
        }
        await bench.time.advance(by: .seconds(60))
        try await bench.pass()
        #expect(try bench.memory.keys.sorted() == [key("one"), key("three")].sorted())
        #expect(try bench.status(Self.file)?.note == "1 event, 1 photo stored")
        #expect(try bench.ledger.event("e2")?.photoState == .pending)
    }

    @Test func `the photos of a file share the batch with all others`() async throws {
        let gate = Gate()
        let bench = try Bench(faults: (1...3).map { StoreFault(.put, number: $0, .hold(gate)) })
        let others = ["a.jpg", "b.jpg", "c.jpg"].map { Bench.gallery.appending($0) }
        write((1...8).map { event("e\($0)", photo: "photo \($0)") }, to: bench)
        for file in others { bench.disk.write("photo \(file)", to: file) }
        try bench.scan()
        try await run(bench.makePipeline(), opening: gate, after: 3)
        #expect(bench.store.mostInFlight(.put) == 3)
        #expect(bench.memory.keys.count == 11)
        #expect(try bench.status(Self.file)?.note == "8 events, 8 photos stored")
        #expect(try bench.ledger.eventCounts().photos == [.stored: 8])
    }

    @Test func `photos of one file are in flight together, and told in its order`() async throws {
        let gate = Gate()
        let bench = try Bench(faults: (1...3).map { StoreFault(.put, number: $0, .hold(gate)) })
        // More than are told together.
        write((1...70).map { event("e\($0)", photo: $0 % 30 == 7 ? "broken \($0)" : "photo \($0)") }, to: bench)
        try bench.scan()
        try await run(bench.makePipeline(), opening: gate, after: 3)
        #expect(bench.store.mostInFlight(.put) == 3)
        let told = try #require(try bench.status(Self.file)?.error)
        #expect(told.hasPrefix("70 events, 67 photos stored, 3 failed: #7 e7: "))
        let places = ["#7 e7", "#37 e37", "#67 e67"].map { told.firstRange(of: $0)?.lowerBound }
        #expect(!places.contains(nil) && places.compactMap(\.self) == places.compactMap(\.self).sorted())
        #expect(try bench.ledger.eventCounts().photos == [.stored: 67, .failed: 3])
    }
}
