package import FoundationEssentials
import SyncCore
import SyncSystem

/// The places that may have credentials, in the order in which they are asked. The first that is set up decides.
///
/// Order of botocore (`credentials.py`), with one difference: a web identity of the environment comes before the profile.
package struct CredentialChain: Sendable {
    let providers: [any CredentialProvider]
    /// What to do when no place has any.
    let remedy: String
    let now: @Sendable () -> Date
}

extension CredentialChain {
    /// Of the places that these services reach.
    package init(_ services: CredentialServices) {
        let shared =
            [
                ProfileCredentials(services: services), services.container, services.instance,
            ] as [any CredentialProvider]
        if services.environment.isProfileConfigured {
            self.init(
                providers: shared, remedy: "add the keys to the profile or correct store.profile", now: services.now)
        } else {
            self.init(
                providers: [services.variables, WebIdentityCredentials(services: services)] + shared,
                remedy: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or add the profile", now: services.now)
        }
    }

    /// The credentials of the first place that has some.
    /// - Throws: `StoreError` `.credentialsMissing` that lists every place; `.credentialsRejected` for expired ones; what
    ///   a place that is set up throws when it fails.
    package func resolve() async throws -> AWSCredentials {
        var reasons: [String] = []
        for provider in providers {
            switch try await provider.credentials() {
            case .found(let credentials):
                let now = now()
                guard RefreshRule(expiration: credentials.expiration, now: now) != .expired else {
                    throw StoreError(
                        .credentialsRejected, "the credentials are \(credentials.provenance(at: now)); get new ones")
                }
                return credentials
            case .absent(let reason):
                reasons.append(reason)
            }
        }
        throw StoreError(
            .credentialsMissing,
            "no S3 credentials: \(reasons.joined(separator: "; ")). To go on, \(remedy)")
    }
}

extension StoreError {
    /// The error of a provider. Who asked for the credentials puts in his operation.
    init(_ code: Code, _ message: String) {
        self.init(code, operation: "credentials", message: message)
    }
}

/// The credentials in use. Callers share one look at the chain, and others are got before these end.
///
/// Others that cannot be got are no failure while these still work.
package final class CredentialCache: Sendable {
    private typealias Outcome = Result<AWSCredentials, any Error>
    /// Gets `nil` when the look was cancelled: somebody else has to do it.
    private typealias Waiter = CheckedContinuation<Outcome?, any Error>

    private struct State {
        var current: AWSCredentials?
        /// No try before it, while the current ones work.
        var nextRefresh = Date.distantPast
        var isRefreshing = false
        var lastID = 0
        var waiting: [Int: Waiter] = [:]
    }

    private enum Step {
        case use(AWSCredentials)
        case refresh
        case wait
    }

    private let chain: CredentialChain
    private let now: @Sendable () -> Date
    private let state = Lock(State())

    package init(chain: CredentialChain, now: @escaping @Sendable () -> Date) {
        self.chain = chain
        self.now = now
    }

    /// Credentials to sign with now.
    /// - Parameters:
    ///   - operation: what they are for; errors name it.
    ///   - refused: some that the store did not take: unless others are in use by now, all places are asked anew.
    /// - Throws: what ``CredentialChain/resolve()`` throws, to all callers that waited for the same look.
    package func current(
        for operation: String, insteadOf refused: AWSCredentials? = nil
    ) async throws -> AWSCredentials {
        if let refused { state.withLock { if $0.current == refused { $0.current = nil } } }
        do {
            while true {
                switch nextStep() {
                case .use(let credentials): return credentials
                case .refresh: return try await refresh()
                case .wait: if let outcome = try await othersOutcome() { return try outcome.get() }
                }
            }
        } catch var error as StoreError {
            error.operation = operation
            throw error
        }
    }

    /// Those that were used last, for errors.
    package var latest: AWSCredentials? { state.withLock { $0.current } }

    private func nextStep() -> Step {
        let now = now()
        return state.withLock { state in
            let rule = state.current.map { RefreshRule(expiration: $0.expiration, now: now) } ?? .expired
            switch (rule, state.current) {
            case (.keep, let current?): return .use(current)
            case (.advisory, let current?) where state.isRefreshing || now < state.nextRefresh: return .use(current)
            case (.mandatory, let current?) where !state.isRefreshing && now < state.nextRefresh: return .use(current)
            default:
                if state.isRefreshing { return .wait }
                state.isRefreshing = true
                return .refresh
            }
        }
    }

    private func refresh() async throws -> AWSCredentials {
        do {
            let found = try await chain.resolve()
            finish(.success(found))
            return found
        } catch let error as CancellationError {
            finish(nil)
            throw error
        } catch {
            // Those that still work are used on.
            guard let current = latest, RefreshRule(expiration: current.expiration, now: now()) != .expired else {
                finish(.failure(error))
                throw error
            }
            finish(.success(current))
            return current
        }
    }

    private func finish(_ outcome: Outcome?) {
        let nextRefresh = now().addingTimeInterval(RefreshRule.pause)
        let waiters = state.withLock { state in
            state.isRefreshing = false
            if case .success(let credentials) = outcome {
                state.current = credentials
                state.nextRefresh = nextRefresh
            }
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }

    // MARK: Waiting for another caller

    private func othersOutcome() async throws -> Outcome? {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: Waiter) in
                let isOver = state.withLock { state in
                    if state.isRefreshing { state.waiting[id] = waiter }
                    return !state.isRefreshing
                }
                if isOver { waiter.resume(returning: nil) }
                // A cancellation before the entry found nothing to end.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func cancel(_ id: Int) {
        state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(throwing: CancellationError())
    }
}
