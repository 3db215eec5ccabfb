import SyncCore
import SyncDigest
import SyncSystem
import SyncTestSupport
import Testing

@Suite struct ObjectPagesTests {
    private func store(holding count: Int) async throws -> FaultyStore {
        let store = InMemoryStore()
        for index in 0..<count {
            _ = try await store.put(
                ObjectBody("x"), at: ObjectKey("p/\(index + 10_000)"),
                attributes: ObjectAttributes(contentType: "text/plain"), condition: .overwrite)
        }
        return FaultyStore(store)
    }

    @Test(arguments: [(0, [0]), (1, [1]), (1_000, [1_000]), (1_001, [1_000, 1]), (2_500, [1_000, 1_000, 500])])
    func `a listing comes in pages of a thousand, each asked for once`(count: Int, sizes: [Int]) async throws {
        let store = try await store(holding: count)
        var keys: [ObjectKey] = []
        var found: [Int] = []
        for try await page in store.pages(prefix: "p/") {
            found.append(page.count)
            keys += page.map(\.key)
        }
        #expect(found == sizes)
        #expect(keys == keys.sorted() && Set(keys).count == count)
        #expect(store.count(.list) == sizes.count)
    }

    /// Gives pages for ever.
    private struct EndlessStore: ReadableStore {
        let objects: [ObjectInfo]
        let token: @Sendable (Int) -> String
        let asked = Lock(0)

        var identity: StoreIdentity { StoreIdentity(type: "endless", location: "here") }

        func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
            let number = asked.withLock { asked in
                asked += 1
                return asked
            }
            return ObjectPage(objects: objects, next: PageToken(rawValue: token(number)))
        }

        func head(_ key: ObjectKey) async throws -> ObjectInfo? { nil }
        func get(
            _ key: ObjectKey, range: Range<Int64>?,
            into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
        ) async throws -> ObjectInfo { throw StoreError(.notFound, operation: "get", message: "nothing") }
    }

    @Test func `a listing that repeats a continuation token ends with an error that says so`() async throws {
        let objects = [ObjectInfo(key: try ObjectKey("p/1"), size: 1)]
        for period in [1, 3] {
            let store = EndlessStore(objects: objects) { "\($0 % period)" }
            let error = await #expect(throws: StoreError.self) {
                for try await _ in store.listing(prefix: "p/") {}
            }
            #expect(error?.code == .invalidResponse && error?.operation == "list")
            #expect(error?.message.contains("continuation token") == true)
            #expect(store.asked.withLock { $0 } == period + 1)
        }
    }

    @Test func `pages without end and without objects end with an error`() async throws {
        let store = EndlessStore(objects: []) { "\($0)" }
        await #expect(throws: StoreError.self) {
            for try await _ in store.listing(prefix: "p/") {}
        }
        #expect(store.asked.withLock { $0 } == 1_001)
    }

    @Test func `no page is asked for before the one in front of it was taken`() async throws {
        let store = try await store(holding: 2_001)
        for try await _ in store.pages(prefix: "p/") { break }
        #expect(store.count(.list) == 1)
    }

    @Test func `after an error the same page is asked for again`() async throws {
        let store = try await store(holding: 1_500)
        store.add(StoreFault(.list, number: 2, .failBefore(.throttled)))
        var pages = store.pages(prefix: "p/").makeAsyncIterator()
        let first = try await pages.next()
        #expect(first?.count == 1_000)
        await #expect(throws: StoreError.self) { _ = try await pages.next() }
        let second = try await pages.next()
        #expect(second?.count == 500)
        #expect(try await pages.next() == nil)
    }
}
