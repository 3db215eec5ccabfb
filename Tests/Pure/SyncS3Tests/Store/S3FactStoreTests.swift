import FoundationEssentials
import SyncCore
import SyncDigest
import SyncTestSupport
import Testing

@testable import SyncS3

/// What one process learns, and the next one knows.
@Suite struct S3FactStoreTests {
    typealias Answer = ScriptedTransport.Answer

    private static let endpoint = "http://nas:9000"
    private static let place = "http://nas:9000/b"
    private static let day: TimeInterval = 86_400
    private static let nothing = Answer.reply(404)
    private static let stored = Answer.reply(200, ["ETag": "\"5d41402abc4b2a76b9719d911017c592\""])

    private let memory = InMemoryEndpointFacts()
    private let body = ObjectBody(bytes: Array("hello".utf8), digest: ContentDigest(of: Array("hello".utf8)))
    private let attributes = ObjectAttributes(contentType: "image/jpeg", storageClass: .glacier)

    /// Puts one object, as a process of its own.
    /// - Returns: the requests it took.
    private func put(
        _ answers: [Answer], daysLater: Double = 0, change: (inout S3Settings) -> Void = { _ in }
    ) async throws -> [HTTPRequest] {
        let made = try ScriptedStore(
            answers, endpoint: Self.endpoint, memory: memory, change: change,
            now: { ScriptedStore.start.addingTimeInterval(daysLater * Self.day) })
        do {
            _ = try await made.store.put(body, at: try ObjectKey("a"), attributes: attributes, condition: .ifAbsent)
        } catch let error as StoreError {
            #expect(error.code == .alreadyExists)
        }
        return made.transport.requests
    }

    @Test func `A store that was seen to honour the condition is not looked at first in the next run`() async throws {
        let first = try await put([Self.nothing, .reply(412)])
        #expect(first.map(\.method) == [.head, .put])
        #expect(memory.facts(of: Self.place) == ["conditional-put": "1356048000 honoured"])
        #expect(try await put([.reply(412)], daysLater: 30).map(\.method) == [.put])
        #expect(try await put([Self.nothing, .reply(412)], daysLater: 31).map(\.method) == [.head, .put])
    }

    /// Puts photos in the standard class, as one process.
    private func putPhotos(_ count: Int, _ answers: [Answer], daysLater: Double = 0, bytes: Int = 5) async throws
        -> [HTTPRequest.Method]
    {
        let made = try ScriptedStore(
            answers, endpoint: Self.endpoint, memory: memory,
            now: { ScriptedStore.start.addingTimeInterval(daysLater * Self.day) })
        let content = [UInt8](repeating: 0, count: bytes)
        let body = ObjectBody(bytes: content, digest: ContentDigest(of: content))
        for index in 1...count {
            _ = try await made.store.put(
                body, at: try ObjectKey("\(index)"), attributes: ObjectAttributes(contentType: "image/jpeg"),
                condition: .ifAbsent)
        }
        return made.transport.requests.map(\.method)
    }

    @Test func `The first photo is put twice, and where that is refused no other one is looked for first`() async throws
    {
        let first = try await putPhotos(3, [Self.nothing, Self.stored, .reply(412), Self.stored, Self.stored])
        #expect(first == [.head, .put, .put, .put, .put])
        #expect(memory.facts(of: Self.place) == ["conditional-put": "1356048000 honoured"])
        #expect(try await putPhotos(1, [Self.stored], daysLater: 30) == [.put])
        #expect(
            try await putPhotos(1, [Self.nothing, Self.stored, .reply(412)], daysLater: 31) == [.head, .put, .put])
    }

    @Test func `Where the condition is ignored, that is tried once a month`() async throws {
        let first = try await putPhotos(2, [Self.nothing, Self.stored, Self.stored, Self.nothing, Self.stored])
        #expect(first == [.head, .put, .put, .head, .put])
        #expect(memory.facts(of: Self.place) == ["conditional-put": "1356048000 ignored"])
        #expect(try await putPhotos(1, [Self.nothing, Self.stored], daysLater: 30) == [.head, .put])
        let later = try await putPhotos(1, [Self.nothing, Self.stored, .reply(412)], daysLater: 31)
        #expect(later == [.head, .put, .put])
    }

    @Test func `A photo is stored whatever becomes of the second put, and a large one is not put twice`() async throws {
        let refused = try await putPhotos(
            2, [Self.nothing, Self.stored, .reply(403), Self.nothing, Self.stored, .reply(403)])
        #expect(refused == [.head, .put, .put, .head, .put, .put])
        #expect(memory.facts(of: Self.place) == [:])
        let large = try await putPhotos(1, [Self.nothing, Self.stored], bytes: (1 << 20) + 1)
        #expect(large == [.head, .put])
    }

    @Test func `A page that answers the second put teaches nothing`() async throws {
        let page = Answer.reply(200, ["ETag": "\"page\""], "<html>Welcome</html>")
        #expect(try await putPhotos(1, [Self.nothing, Self.stored, page]) == [.head, .put, .put])
        #expect(memory.facts(of: Self.place) == [:])
    }

    @Test func `What was in vain is tried three times in a run`() async throws {
        let inVain = [Self.nothing, Self.stored, .reply(503)]
        let methods = try await putPhotos(
            5, inVain + inVain + inVain + [Self.nothing, Self.stored, Self.nothing, Self.stored])
        #expect(methods == [.head, .put, .put, .head, .put, .put, .head, .put, .put, .head, .put, .head, .put])
        #expect(memory.facts(of: Self.place) == [:])
        #expect(
            try await putPhotos(3, inVain + [Self.nothing, Self.stored, .reply(412), Self.stored])
                == [.head, .put, .put, .head, .put, .put, .put])
    }

    @Test func `What machines tell each other by is not put twice`() async throws {
        let made = try ScriptedStore([Self.nothing, Self.stored], endpoint: Self.endpoint, memory: memory)
        _ = try await made.store.put(
            body, at: try ObjectKey("claim"), attributes: ObjectAttributes(contentType: "application/json"),
            condition: .ifAbsent)
        #expect(made.transport.requests.map(\.method) == [.head, .put])
    }

    @Test func `What another machine may have replaced by then is not put twice`() async throws {
        let made = try ScriptedStore([Self.nothing, Self.stored], endpoint: Self.endpoint, memory: memory)
        _ = try await made.store.put(
            body, at: try ObjectKey("users/ana/projects/a.jpg"),
            attributes: ObjectAttributes(contentType: "image/jpeg"), condition: .ifAbsent)
        #expect(made.transport.requests.map(\.method) == [.head, .put])
    }

    @Test func `What is known is not written again`() async throws {
        _ = try await put([Self.nothing, .reply(412)])
        #expect(memory.writes == 1)
        _ = try await put([.reply(412)], daysLater: 1)
        #expect(memory.writes == 1)
        _ = try await put([Self.nothing, .reply(412)], daysLater: 60)
        #expect(memory.writes == 2)
    }

    @Test func `A class that was refused is not asked for in the next run`() async throws {
        _ = try await put([Self.nothing, .error(400, "InvalidStorageClass"), Self.stored])
        let second = try await put([Self.nothing, Self.stored])
        #expect(second.map { $0.headers["x-amz-storage-class"] } == [nil, nil])
        let later = try await put([Self.nothing, Self.stored], daysLater: 40)
        #expect(later.map { $0.headers["x-amz-storage-class"] } == [nil, "GLACIER"])
    }

    @Test(arguments: [(true, [HTTPRequest.Method.put]), (false, [.head, .put])])
    func `The configuration counts for more than what was learned`(
        setting: Bool, methods: [HTTPRequest.Method]
    ) async throws {
        let learned = setting ? "refused" : "honoured"
        memory.remember("conditional-put", value: "1356048000 \(learned)", of: Self.place)
        memory.remember("checksums", value: "1356048000 \(setting ? "no" : "yes")", of: Self.place)
        let answers = setting ? [Self.stored] : [Self.nothing, Self.stored]
        let requests = try await put(answers) {
            $0.conditionalWrites = setting
            $0.checksums = setting
        }
        #expect(requests.map(\.method) == methods)
        #expect(requests.last?.headers["If-None-Match"] == (setting ? "*" : nil))
        #expect((requests.last?.headers["x-amz-checksum-sha256"] != nil) == setting)
    }

    @Test(arguments: ["", "honoured", "x honoured", "1356048001 honoured", "1356048000 perhaps", "1356048000"])
    func `A fact that cannot be believed is none`(value: String) async throws {
        memory.remember("conditional-put", value: value, of: Self.place)
        memory.remember("something new", value: "1356048000 no", of: Self.place)
        #expect(try await put([Self.nothing, Self.stored]).map(\.method) == [.head, .put])
    }

    @Test func `Facts that come after newer ones are not written over them`() async throws {
        let remembering = S3FactStore(memory, of: "place", initial: ["a": "0"], now: { ScriptedStore.start })
        await remembering.remember(["a": "2"], version: 2)
        await remembering.remember(["a": "1"], version: 1)
        #expect(memory.facts(of: "place") == ["a": "1356048000 2"])
        await remembering.remember(["a": "0"], version: 3)
        #expect(memory.facts(of: "place") == ["a": "1356048000 0"])
        #expect(memory.writes == 2)
    }

    @Test func `What an examination finds takes the place of what was remembered, and nothing else does`() async throws
    {
        let refused = ["checksums", "delete-many", "class GLACIER", "class DEEP_ARCHIVE"]
        for name in refused { memory.remember(name, value: "1356048000 no", of: Self.place) }
        memory.remember("conditional-put", value: "1356048000 refused", of: Self.place)
        let made = try ScriptedStore([], endpoint: Self.endpoint, memory: memory) { $0.conditionalWrites = true }
        await S3Examiner(made.store).remember([.glacier])
        let facts = memory.facts(of: Self.place)
        #expect(facts["delete-many"] == "1356048000 yes")
        #expect(facts["class DEEP_ARCHIVE"] == "1356048000 no")
        // What the configuration says was not found out.
        #expect(facts["conditional-put"] == "1356048000 refused")
        // Whether copies get there is still to be seen.
        let next = try ScriptedStore([], endpoint: Self.endpoint, memory: memory)
        let capabilities = await next.store.client.capabilities()
        #expect(capabilities.refusedClasses == [.deepArchive] && capabilities.provenClasses.isEmpty)
    }

    @Test func `Another bucket is another place`() async throws {
        _ = try await put([Self.nothing, .reply(412)])
        let other = try await put([Self.nothing, .reply(412)]) { $0.bucket = "c" }
        #expect(other.map(\.method) == [.head, .put])
    }

    // MARK: Uploads in parts

    private func upload(
        _ id: String, in folder: String = "f", began: Date = ScriptedStore.start
    ) throws -> StoredUpload {
        StoredUpload(id: id, key: try ObjectKey("\(folder)/\(id)"), began: began)
    }

    @Test func `A film that another process shares beside the agent is left alone for a week`() async throws {
        let old = ScriptedStore.start.addingTimeInterval(-8 * 86_400)
        memory.noteUpload(try upload("young", in: "shares/x"))
        memory.noteUpload(try upload("old", in: "shares/x", began: old))
        let made = try ScriptedStore([.reply(204)], memory: memory)
        try await made.store.removeLeftovers()
        #expect(made.transport.requests.map(\.url.path) == ["/b/shares/x/old"])
        #expect(memory.unfinishedUploads().map(\.id) == ["young"])
    }

    @Test func `Uploads of an earlier process are taken back, and stay noted until they are gone`() async throws {
        for id in ["a", "b", "c", "d"] { memory.noteUpload(try upload(id)) }
        let made = try ScriptedStore(
            [.reply(204), .error(404, "NoSuchUpload"), .error(500, "InternalError"), .reply(200)],
            memory: memory)
        try await made.store.removeLeftovers()
        #expect(
            made.transport.requests.map { "\($0.method.rawValue) \($0.url.path) \($0.url.query.first?.value ?? "")" }
                == ["DELETE /b/f/a a", "DELETE /b/f/b b", "DELETE /b/f/c c", "DELETE /b/f/d d"])
        #expect(memory.unfinishedUploads().map(\.id) == ["c"])
    }

    @Test(arguments: [
        Answer.reply(404), .reply(404, [:], "404 page not found\n"), .reply(404, [:], "<html>no such page</html>"),
        .reply(200, [:], "<html>Welcome</html>"),
    ])
    func `An upload is forgotten only when the store itself says that it is gone`(answer: Answer) async throws {
        memory.noteUpload(try upload("a"))
        try await ScriptedStore([answer], memory: memory).store.removeLeftovers()
        #expect(memory.unfinishedUploads().map(\.id) == ["a"])
    }

    @Test func `A 412 that a proxy has said is no word of the store on conditions`() async throws {
        let made = try ScriptedStore(
            [Self.nothing, .reply(412, [:], "<html>precondition</html>")], endpoint: Self.endpoint, memory: memory)
        let code = try await ScriptedStore.code {
            _ = try await made.store.put(body, at: try ObjectKey("a"), attributes: attributes, condition: .ifAbsent)
        }
        #expect(code == .invalidResponse)
        #expect(memory.facts(of: Self.place) == [:])
    }

    @Test func `A store that is away is asked once, and nothing is forgotten`() async throws {
        for id in ["a", "b"] { memory.noteUpload(try upload(id)) }
        let made = try ScriptedStore([.failure(TransportError(.unreachable, "no route"))], memory: memory)
        let error = await #expect(throws: StoreError.self) { try await made.store.removeLeftovers() }
        #expect(error?.code == .unreachable && error?.operation == "tidy")
        #expect(made.transport.requests.count == 1)
        #expect(memory.unfinishedUploads().count == 2)
    }

    @Test func `Where nothing is left behind, nothing is sent`() async throws {
        let made = try ScriptedStore([], memory: memory)
        try await made.store.removeLeftovers()
        try await ScriptedStore([]).store.removeLeftovers()
        #expect(made.transport.requests.isEmpty)
    }
}
