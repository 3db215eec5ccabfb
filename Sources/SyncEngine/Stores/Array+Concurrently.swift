extension Array where Element: Sendable {
    /// Maps with at most so many elements under way at once; the next begins when one ends. Results are in order.
    ///
    /// The first error ends it: what is under way is cancelled and awaited.
    func concurrently<Result: Sendable>(
        _ limit: Int, _ body: @escaping @Sendable (Element) async throws -> Result
    ) async throws -> [Result] {
        try await withThrowingTaskGroup(of: (Int, Result).self) { group in
            var results = [Result?](repeating: nil, count: count)
            for (index, element) in enumerated() {
                if index >= limit, let (done, result) = try await group.next() { results[done] = result }
                group.addTask { (index, try await body(element)) }
            }
            for try await (done, result) in group { results[done] = result }
            return results.compactMap(\.self)
        }
    }
}
