package import SyncCore

/// What `doctor` says of one thing.
package struct Finding: Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        case ok
        /// It works otherwise than it could; the remedy tells what is done instead.
        case limited
        /// It does not work; the remedy tells what to do.
        case wrong
    }

    /// Stable, for programs: `watched-folder`, `conditional-puts`.
    package var name: String
    package var state: State
    /// What was found.
    package var detail: String
    /// `nil` when all is well.
    package var remedy: String?
    /// What makes it wrong, for the exit code.
    package var cause: (any Error)?

    private init(_ name: String, _ state: State, _ detail: String, remedy: String?, cause: (any Error)? = nil) {
        self.name = name
        self.state = state
        self.detail = detail
        self.remedy = remedy
        self.cause = cause
    }

    package static func ok(_ name: String, _ detail: String) -> Finding {
        Finding(name, .ok, detail, remedy: nil)
    }

    package static func limited(_ name: String, _ detail: String, instead: String) -> Finding {
        Finding(name, .limited, detail, remedy: instead)
    }

    package static func wrong(
        _ name: String, _ detail: String, remedy: String, cause: (any Error)? = nil
    ) -> Finding {
        Finding(name, .wrong, detail, remedy: remedy, cause: cause)
    }

    /// - Parameter otherwise: the remedy when the message names none.
    package static func wrong(
        _ name: String, message: String, otherwise: String, cause: any Error
    ) -> Finding {
        let parts = Advice(message)
        return wrong(name, parts.reason, remedy: parts.remedy ?? otherwise, cause: cause)
    }

    package static func wrong(_ name: String, _ error: StoreError) -> Finding {
        var parts = Advice(error.message)
        if let detail = error.detail { parts.reason += " (\(detail))" }
        let otherwise =
            error.isTransient
            ? "try again; when it stays so, look at the server and its log"
            : "look at the server's configuration and log"
        return wrong(
            name, "\(error.operation): \(parts.reason)", remedy: parts.remedy ?? otherwise, cause: error)
    }
}

/// A message of ours in two: the reason, and the next step after the first semicolon. Where reasons are a list of their
/// own, the next step begins with "To go on,".
package struct Advice: Hashable, Sendable {
    package var reason: String
    package var remedy: String?

    package init(_ message: String) {
        if let end = message.firstRange(of: ". To go on, ") ?? message.firstRange(of: "; ") {
            reason = String(message[..<end.lowerBound])
            remedy = String(message[end.upperBound...])
        } else {
            reason = message
        }
    }
}
