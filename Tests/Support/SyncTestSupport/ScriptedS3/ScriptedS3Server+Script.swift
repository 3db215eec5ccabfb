import SyncCore
import SyncSystem

extension ScriptedS3Server {
    /// Lets a fault happen to the requests that fit.
    /// - Parameters:
    ///   - operations: none for all.
    ///   - key: `nil` for any, and for requests without one.
    ///   - numbers: which of those that fit, counted from 1 and from now; by default the first.
    package func script(
        _ fault: Fault, on operations: S3Operation..., key: String? = nil, numbers: ClosedRange<Int> = 1...1
    ) {
        let operations = operations.isEmpty ? nil : Set(operations)
        let rule = FaultRule(operations: operations, key: key, numbers: numbers, fault: fault)
        state.withLock { $0.script.add(rule) }
    }

    /// Lets a fault happen to the request that arrives as number `number`, from 1, as ``RequestRecord/number`` counts.
    package func script(_ fault: Fault, onRequest number: Int) {
        state.withLock { $0.script.add(fault, toRequest: number) }
    }

    /// Lets faults happen at random; prints the seed.
    package func play(_ mix: FaultMix) {
        print(mix)
        state.withLock { $0.script.play(mix) }
    }

    /// From now on everything goes well.
    package func clearScript() {
        state.withLock { $0.script.clear() }
    }

    /// Makes the server imitate another store.
    package func imitate(_ change: (inout StoreAbilities) -> Void) {
        state.withLock { change(&$0.abilities) }
    }

    /// The key pairs that are known from now on.
    package func setCredentials(_ credentials: [ServerCredentials]) {
        state.withLock { $0.credentials = credentials }
    }

    /// Whether a request signed for another region is answered with 301 PermanentRedirect, rather than with 400
    /// AuthorizationHeaderMalformed, as it is from the start.
    package func setRedirectsWrongRegion(_ redirects: Bool) {
        state.withLock { $0.redirectsWrongRegion = redirects }
    }

    /// Every request so far, in the order of arrival.
    package var requests: [RequestRecord] {
        state.withLock { $0.records }
    }

    /// Those of some operations, and of one key where one is given.
    package func requests(_ operations: S3Operation..., key: String? = nil) -> [RequestRecord] {
        requests.filter { operations.contains($0.operation) && (key == nil || $0.key == key) }
    }

    /// Forgets the records; the next request is number 1 again.
    package func clearRequests() {
        state.withLock { $0.records = [] }
    }
}
