import SyncSystem

/// How many do the same at one time, where each of them costs much.
final class PlaceLimit: Sendable {
    private let most: Int
    private let taken = Mutex(0)

    init(_ most: Int) { self.most = most }

    /// - Returns: a place, for as long as it is held; `nil` while all are.
    func take() -> Place? {
        let isFree = taken.withLock { taken in
            if taken >= most { return false }
            taken += 1
            return true
        }
        return isFree ? Place(self) : nil
    }

    final class Place: Sendable {
        private let limit: PlaceLimit

        fileprivate init(_ limit: PlaceLimit) { self.limit = limit }

        deinit { limit.taken.withLock { $0 -= 1 } }
    }
}
