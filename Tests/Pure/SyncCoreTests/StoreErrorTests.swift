import SyncCore
import SyncTestSupport
import Testing

@Suite struct StoreErrorTests {
    @Test(arguments: StoreError.Code.allCases)
    func `the store is asked only where the answer to one object does not tell whether others meet it too`(
        code: StoreError.Code
    ) async throws {
        let error = StoreError(code, operation: "put", key: "photo", message: "scripted")
        let well = FaultyStore(InMemoryStore())
        let away = FaultyStore(InMemoryStore(), faults: [StoreFault(.check, .failBefore(.serverFailed))])
        let (calm, outage) = (try await well.outage(behind: error), try await away.outage(behind: error))
        if error.concernsWholeStore {
            #expect(error.mayConcernWholeStore && calm == error && outage == error)
            #expect(well.count(.check) == 0 && away.count(.check) == 0)
        } else {
            let isAsked = [.unsupported, .invalidResponse].contains(code)
            #expect(error.mayConcernWholeStore == isAsked && calm == nil)
            #expect(outage?.code == (isAsked ? StoreError.Code.serverFailed : nil))
            #expect(well.count(.check) == (isAsked ? 1 : 0))
        }
    }
}
