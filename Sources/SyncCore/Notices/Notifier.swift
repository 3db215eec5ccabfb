/// A way to tell people what happened. What stands in a notice is data: no adapter lets any of it be taken for a command,
/// an option or markup.
package protocol Notifier: Sendable {
    /// Tells it once, and returns when it was handed over.
    /// - Throws: an error that says what to do and holds no secret; `CancellationError`.
    func tell(_ notice: Notice) async throws
}
