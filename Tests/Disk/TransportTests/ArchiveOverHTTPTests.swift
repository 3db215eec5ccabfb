import Foundation
import SyncCore
import SyncDigest
import SyncS3
import SyncSystem
import SyncTestSupport
import Testing

/// Archives, restores, rules and links over curl, against the scripted server.
@Suite struct ArchiveOverHTTPTests {
    private static let request = RestoreRequest(days: 3, tier: .bulk)

    /// - Parameter now: the store's clock; the server's own unless said otherwise.
    private func withStore(
        prefix: String = "", region: String? = nil, now: (@Sendable () -> Date)? = nil,
        _ work: (ScriptedS3Server, S3Store) async throws -> Void
    ) async throws {
        try await ScriptedS3Server.run { server in
            let store = try S3Store(
                settings: S3Settings(
                    bucket: server.bucket, region: region, endpoint: server.endpoint, prefix: prefix),
                environment: server.environment, now: now ?? { server.now })
            do {
                try await work(server, store)
            } catch {
                await store.close()
                throw error
            }
            await store.close()
        }
    }

    /// Of the error that `work` throws; `nil` when it ends normally.
    private func code(_ work: () async throws -> Void) async throws -> StoreError.Code? {
        do {
            try await work()
            return nil
        } catch let error as StoreError {
            return error.code
        }
    }

    // MARK: Copies

    @Test func `A copy in place archives an object, with all that belongs to it`() async throws {
        try await withStore(prefix: "p") { server, store in
            let key = try ObjectKey("a b/ü+.jpg")
            let bytes = Array("photo".utf8)
            _ = try await store.put(
                ObjectBody(bytes: bytes, digest: ContentDigest(of: bytes)), at: key,
                attributes: ObjectAttributes(contentType: "image/jpeg", metadata: ["taken-at": "2024"]),
                condition: .ifAbsent)
            server.clearRequests()
            try await store.copy(key, to: key, storageClass: .deepArchive, condition: .overwrite)
            let object = try #require(server.object("p/a b/ü+.jpg"))
            #expect(object.storageClass == .deepArchive && object.bytes == bytes && object.generation == 2)
            #expect(object.metadata["taken-at"] == "2024" && object.systemHeaders["content-type"] == "image/jpeg")
            // What a listing says of the class counts, not what the request asked for.
            #expect(server.requests.map(\.operation) == [.headObject, .copyObject, .headObject, .listObjectsV2])
            let again = try await code {
                try await store.copy(key, to: key, storageClass: .standard, condition: .overwrite)
            }
            #expect(again == .archived)
            #expect(server.object("p/a b/ü+.jpg")?.generation == 2)
        }
    }

    @Test func `An archived object is neither copied nor overwritten by a copy`() async throws {
        try await withStore { server, store in
            server.store([1], at: "cold", storageClass: .glacier)
            server.store([2], at: "warm")
            let cold = try ObjectKey("cold")
            let warm = try ObjectKey("warm")
            let new = try ObjectKey("new")
            for (source, target) in [(cold, new), (warm, cold)] {
                let code = try await code {
                    try await store.copy(source, to: target, storageClass: .standard, condition: .overwrite)
                }
                #expect(code == .archived)
            }
            #expect(server.keys == ["cold", "warm"] && server.requests(.copyObject).isEmpty)
            let taken = try await code {
                try await store.copy(warm, to: cold, storageClass: .standard, condition: .ifAbsent)
            }
            #expect(taken == .alreadyExists)
        }
    }

    @Test(arguments: [
        (Fault.errorInBody("InternalError"), [StoreError.Code.serverFailed]), (.cutXML, [.invalidResponse]),
        // On a connection that was used before curl sends it again by itself, and the object is archived by then.
        (.cut(.beforeReply), [.archived, .connectionLost]), (.cut(.duringReplyHead), [.connectionLost]),
    ])
    func `A copy without a good answer is no copy, and the next try tells that it was one`(
        fault: Fault, expected: [StoreError.Code]
    ) async throws {
        try await withStore { server, store in
            server.store([1], at: "a")
            server.script(fault, on: .copyObject)
            let key = try ObjectKey("a")
            let copy = { try await store.copy(key, to: key, storageClass: .deepArchive, condition: .overwrite) }
            let error = await #expect(throws: StoreError.self) { try await copy() }
            #expect(error.map { expected.contains($0.code) } == true)
            #expect(try await code { try await copy() } == .archived)
            #expect(server.object("a")?.generation == 2)
        }
    }

    @Test func `A store with one class says so, and copies nothing`() async throws {
        try await withStore { server, store in
            server.imitate { $0.storageClasses = [.standard] }
            server.store([1], at: "a")
            let key = try ObjectKey("a")
            let error = await #expect(throws: StoreError.self) {
                try await store.copy(key, to: key, storageClass: .deepArchive, condition: .overwrite)
            }
            #expect(error?.code == .unsupported)
            #expect(error?.message.contains("does not have the storage class DEEP_ARCHIVE") == true)
            #expect(server.object("a")?.generation == 1)
            let bytes = Array("x".utf8)
            let receipt = try await store.put(
                ObjectBody(bytes: bytes, digest: ContentDigest(of: bytes)), at: try ObjectKey("b"),
                attributes: ObjectAttributes(contentType: "image/jpeg", storageClass: .deepArchive),
                condition: .ifAbsent)
            #expect(receipt.storageClass == .standard)
        }
    }

    // MARK: Restores

    @Test func `A restored object is read, and a listing tells its state with no further request`() async throws {
        try await withStore { server, store in
            for number in 0..<1_500 { server.store([UInt8(number % 256)], at: "k\(10_000 + number)") }
            for number in 0..<3 { server.transition("k\(10_000 + number * 600)", to: .deepArchive) }
            for number in 0..<2 {
                let key = try ObjectKey("k\(10_000 + number * 600)")
                #expect(try await store.restore(key, Self.request) == .accepted)
            }
            server.clearRequests()
            #expect(store.capabilities.restoresInLists == nil)
            #expect(try await states(store) == ["k10000": .inProgress, "k10600": .inProgress])
            #expect(store.capabilities.restoresInLists == true)
            server.advanceClock(by: .seconds(48 * 3_600))
            let restored = try await states(store)
            // Three days from the request, up to midnight: it took two of them to come back.
            guard case .restored(until: let end?) = try #require(restored["k10000"]) else {
                Issue.record("k10000 is not restored")
                return
            }
            #expect(end > server.now && end <= server.now.addingTimeInterval(2 * 86_400))
            // Two pages each time: one request for a thousand objects, and none for an object.
            #expect(server.requests.count == 4)
            #expect(server.requests.allSatisfy { $0.operation == .listObjectsV2 })
            let noted = Lock<[UInt8]>([])
            _ = try await store.get(try ObjectKey("k10600"), range: nil) { part in
                noted.withLock { $0 += Array(part) }
            }
            #expect(noted.withLock { $0 } == [UInt8(600 % 256)])
        }
    }

    private func states(_ store: S3Store) async throws -> [String: RestoreState] {
        var states: [String: RestoreState] = [:]
        var token: PageToken?
        repeat {
            let page = try await store.list(prefix: "", after: token, limit: 1_000)
            for object in page.objects where object.restore != .none { states[object.key.rawValue] = object.restore }
            token = page.next
        } while token != nil
        return states
    }

    @Test func `What runs already is made faster, and else left alone`() async throws {
        try await withStore { server, store in
            server.store([1], at: "a", storageClass: .glacier)
            let key = try ObjectKey("a")
            #expect(try await store.restore(key, Self.request) == .accepted)
            #expect(try await store.restore(key, Self.request) == .alreadyRetrieving)
            #expect(try await store.restore(key, RestoreRequest(days: 3, tier: .standard)) == .accepted)
            #expect(server.object("a")?.restore?.tier == .standard)
            server.advanceClock(by: .seconds(5 * 3_600))
            #expect(try await store.restore(key, RestoreRequest(days: 9, tier: .bulk)) == .accepted)
            #expect(server.object("a")?.restore?.days == 9)
        }
    }

    @Test func `There may be no room, no such tier, or nothing to restore`() async throws {
        try await withStore { server, store in
            server.store([1], at: "glacier", storageClass: .glacier)
            server.store([1], at: "deep", storageClass: .deepArchive)
            server.store([1], at: "warm")
            server.script(.answer(ScriptedAnswer(503, "GlacierExpeditedRetrievalNotAvailable")), on: .restoreObject)
            let table: [(String, RestoreTier, StoreError.Code?)] = [
                ("glacier", .expedited, .tierUnavailable), ("glacier", .expedited, nil),
                ("deep", .expedited, .tierUnavailable), ("warm", .standard, .notArchived),
                ("nowhere", .standard, .notFound),
            ]
            for (key, tier, expected) in table {
                let code = try await code {
                    _ = try await store.restore(try ObjectKey(key), RestoreRequest(days: 1, tier: tier))
                }
                #expect(code == expected, "\(key)")
            }
            #expect(server.requests.count == table.count)
        }
    }

    struct Limited: Sendable {
        let restores: StoreAbilities.Restores
        /// For bulk and then for standard.
        let errors: [StoreError.Code?]
        let requests: Int
    }

    @Test(arguments: [
        Limited(restores: .daysOnly, errors: [nil, nil], requests: 3),
        Limited(restores: .standardTierOnly, errors: [.tierUnavailable, nil], requests: 2),
        Limited(restores: .notImplemented, errors: [.tierUnavailable, .unsupported], requests: 3),
    ])
    func `Other stores restore as well as they can`(limited: Limited) async throws {
        try await withStore { server, store in
            server.imitate { $0.restores = limited.restores }
            for (tier, expected) in zip([RestoreTier.bulk, .standard], limited.errors) {
                server.store([1], at: tier.rawValue, storageClass: .glacier)
                let code = try await code {
                    let key = try ObjectKey(tier.rawValue)
                    _ = try await store.restore(key, RestoreRequest(days: 1, tier: tier))
                }
                #expect(code == expected)
                #expect((server.object(tier.rawValue)?.restore != nil) == (expected == nil))
            }
            #expect(server.requests(.restoreObject).count == limited.requests)
        }
    }

    // MARK: Deletes

    @Test func `A thousand and one objects are deleted with two requests`() async throws {
        try await withStore(prefix: "p") { server, store in
            let keys = try (0...1_000).map { try ObjectKey("k & <\($0)>") }
            for key in keys { server.store([], at: "p/\(key)") }
            server.protect("p/k & <7>")
            let failures = try await store.delete(keys + [try ObjectKey("never there")])
            #expect(failures.mapValues(\.code) == [keys[7]: .accessDenied])
            #expect(server.keys == ["p/k & <7>"])
            #expect(server.requests.map(\.operation) == [.deleteObjects, .deleteObjects])
        }
    }

    // MARK: Rules

    @Test func `Other people's rules go through a change of ours as they are`() async throws {
        try await withStore(prefix: "p") { server, store in
            let foreign = [
                "<Rule><ID>tags</ID><Filter><Tag><Key>k</Key><Value>v</Value></Tag></Filter><Status>Enabled</Status>"
                    + "<Expiration><Days>9</Days></Expiration></Rule>",
                "<Rule>\n  <ID>small</ID><Filter><And><Prefix>a/</Prefix><ObjectSizeLessThan>5</ObjectSizeLessThan></And>"
                    + "</Filter><Status>Disabled</Status><!-- why? --><Expiration><Days>1</Days></Expiration></Rule>",
                "<Rule><ID>old &amp; gone</ID><Prefix></Prefix><Status>Enabled</Status><NoncurrentVersionTransition>"
                    + "<NoncurrentDays>1</NoncurrentDays><StorageClass>GLACIER</StorageClass></NoncurrentVersionTransition>"
                    + "</Rule>",
            ]
            #expect(try await store.lifecycle().rules.isEmpty)
            server.lifecycle =
                "<LifecycleConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\(foreign.joined(separator: "\n"))"
                + "</LifecycleConfiguration>"
            var configuration = try await store.lifecycle()
            #expect(configuration.rules.map(\.content) == foreign.map { .foreign($0) })
            #expect(configuration.defaultMinimumSize == "all_storage_classes_128K")
            let ours = LifecycleRule(
                id: "sync-agent-photos-ana",
                content: .own(
                    TierRule(
                        prefix: "users/ana/photos/", largerThan: 131_072,
                        transition: TierRule.Transition(afterDays: 180, storageClass: .deepArchive))))
            configuration.rules.insert(ours, at: 1)
            try await store.setLifecycle(configuration)
            #expect(try await store.lifecycle() == configuration)
            for rule in foreign { #expect(server.lifecycle?.contains(rule) == true) }
            #expect(server.lifecycle?.contains("<ID>sync-agent-photos-ana in p/</ID>") == true)
            #expect(server.requests(.deleteBucketLifecycle).isEmpty)
        }
    }

    // MARK: Links

    /// As somebody's browser reads it: no credentials, no headers.
    private func open(_ link: StoreLink) async throws -> (status: Int, body: String) {
        let transport = try CurlTransport()
        let parts = try #require(URLComponents(string: link.url))
        let url = HTTPURL(
            scheme: try #require(parts.scheme), host: try #require(parts.host), port: parts.port,
            path: parts.percentEncodedPath,
            query: (parts.queryItems ?? []).map { HTTPQueryItem($0.name, $0.value ?? "") })
        #expect("\(url)" == link.url)
        let response = try await transport.send(HTTPRequest(.get, url), target: .memory(limit: 1 << 20))
        await transport.close()
        return (response.status, String(decoding: response.body, as: UTF8.self))
    }

    @Test(arguments: [nil, "us-east-1"])
    func `A link is read by anyone until it ends, also where region and clock were wrong`(
        region: String?
    ) async throws {
        try await withStore(prefix: "p", region: region, now: { Date() }) { server, store in
            server.setClock(ahead: .seconds(7_200))
            server.store(Array("photo".utf8), at: "p/a b/ü+.jpg")
            let begin = server.now
            let link = try await store.link(to: try ObjectKey("a b/ü+.jpg"), lasting: .seconds(600))
            #expect(link.limit == nil)
            // Dates in HTTP have no fractions of a second.
            #expect(link.endsAt >= begin.addingTimeInterval(598))
            #expect(link.endsAt <= server.now.addingTimeInterval(602))
            let read = try await open(link)
            #expect(read.status == 200 && read.body == "photo")
            server.advanceClock(by: .seconds(601))
            #expect(try await open(link).status == 403)
        }
    }

    @Test func `A link that is signed with temporary credentials ends with them`() async throws {
        let end = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 + 7_200).rounded())
        let server = try ScriptedS3Server(credentials: [
            ServerCredentials(accessKeyID: "ASIATEMP", secretAccessKey: "s", sessionToken: "to/k+en=", expires: end)
        ])
        server.store(Array("photo".utf8), at: "a")
        var environment = server.environment
        environment["AWS_CREDENTIAL_EXPIRATION"] = end.formatted(.iso8601)
        let store = try S3Store(
            settings: S3Settings(bucket: server.bucket, endpoint: server.endpoint), environment: environment,
            now: { Date() })
        let link = try await store.link(to: try ObjectKey("a"), lasting: .seconds(86_400))
        #expect(abs(link.endsAt.timeIntervalSince(end)) < 2)
        #expect(link.limit == "the credentials are temporary, and a link ends with them")
        #expect(try await open(link).body == "photo")
        await store.close()
        await server.stop()
    }
}
