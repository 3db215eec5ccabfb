package import Logging
package import SyncCore

/// All ways to tell people that are set up, as one. A way that fails is a warning in the log: it stops neither the other
/// ways nor the agent.
package struct Notifiers: Sendable {
    private let ways: [any Notifier]
    private let kinds: Set<Notice.Kind>
    private let gallery: String?
    private let logger: Logger

    /// - Parameters:
    ///   - kinds: those that are told.
    ///   - gallery: the address of the gallery, whose pages tell more; it ends in a slash.
    package init(
        _ ways: [any Notifier], kinds: Set<Notice.Kind> = Set(Notice.Kind.allCases), gallery: String? = nil,
        logger: Logger
    ) {
        self.ways = ways
        self.gallery = gallery
        self.kinds = kinds
        self.logger = logger
    }

    /// Tells it in all ways at once, and returns when the last is done.
    /// - Throws: `CancellationError`.
    package func deliver(_ notice: Notice) async throws {
        guard delivers(notice.kind) else { return }
        let notice = gallery.map { notice.linked(to: $0) } ?? notice
        await withTaskGroup(of: Void.self) { group in
            for way in ways {
                group.addTask { await deliver(notice, by: way) }
            }
        }
        try Task.checkCancellation()
    }

    package func delivers(_ kind: Notice.Kind) -> Bool { kinds.contains(kind) }

    private func deliver(_ notice: Notice, by way: any Notifier) async {
        do {
            try await way.deliver(notice)
        } catch is CancellationError {
            // Nobody is to blame, and the caller throws it.
        } catch {
            logger.warning("\"\(notice.title.escapingControls)\" could not be told: \(error)")
        }
    }
}
