/// What an endpoint can do beyond plain S3, as far as we know.
package struct S3Capabilities: Hashable, Sendable {
    /// What the endpoint makes of `If-None-Match: *` on a put.
    package enum ConditionalPut: Hashable, Sendable {
        /// It answers 412 where something is stored: no other check is needed.
        case honoured
        /// Unknown, and a 200 proves nothing: some stores ignore the header and overwrite.
        case unproven
        /// It answers 501 to the header.
        case refused
    }

    package private(set) var conditionalPut: ConditionalPut

    /// Amazon documents conditional writes. Any other endpoint has to prove them, and we do not ask it to by writing
    /// something twice: until a 412 is seen in passing, each conditional put has a HEAD before it and carries the header
    /// too. That costs a round trip; a probe would cost a second upload of an object that may be billed or versioned.
    package init(isAmazon: Bool) {
        conditionalPut = isAmazon ? .honoured : .unproven
    }

    /// Learns from the status of a put that carried the header.
    package mutating func noteConditionalPut(status: Int) {
        switch status {
        case 412: conditionalPut = .honoured
        case 501: conditionalPut = .refused
        default: break
        }
    }
}
