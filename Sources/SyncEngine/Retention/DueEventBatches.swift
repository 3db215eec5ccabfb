import SyncLedger

/// Due events, batch after batch. A file is read, and written anew, once for each batch that has events of it. Where
/// files hold many, the batches grow: the work would otherwise grow with the square of a file's events.
struct DueEventBatches: AsyncSequence, Sendable {
    typealias Element = [DueEvent]

    /// Events of a batch for each of its files, from which the next one is larger.
    private static let many = 2

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let batches: DueEventBatches
        fileprivate var size: Int
        fileprivate var last: EventRecord?

        mutating func next() async throws -> [DueEvent]? {
            let batch = try await batches.ledger { [batches, last, size] in try batches.read($0, last, size) }
            guard let end = batch.last else { return nil }
            last = end.event
            let files = Set(batch.flatMap(\.places).map(\.photoID)).count
            let grows = batch.count >= DueEventBatches.many * files
            size = grows ? Swift.max(batches.least, Swift.min(2 * size, batches.most)) : batches.least
            return batch
        }
    }

    let ledger: LedgerQueue
    /// Events of the first batch, and of all where files hold few.
    let least: Int
    /// More events are not in a batch: some 2 KB of memory each, with what is found out about it. What the caller has
    /// proved of a whole batch is lost when it ends in the midst of it.
    let most: Int
    /// Gives so many events behind one.
    let read: @Sendable (Ledger, EventRecord?, Int) throws -> [DueEvent]

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(batches: self, size: least, last: nil) }
}
