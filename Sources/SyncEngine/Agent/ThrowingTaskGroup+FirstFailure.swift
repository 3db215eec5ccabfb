extension ThrowingTaskGroup where ChildTaskResult == Void, Failure == any Error {
    /// Waits for all tasks; the first failure is thrown at once, and leaving the group's body by it cancels the others.
    ///
    /// `waitForAll()` throws it only when all of them have ended. Tasks that wait for one another never do then: the one
    /// that would have sent them something has failed.
    mutating func waitForAllOrFirstFailure(isolation: isolated (any Actor)? = #isolation) async throws {
        while try await next(isolation: isolation) != nil {}
    }
}
