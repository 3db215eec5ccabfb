/// Reads telephone numbers as people write them.
package protocol PhoneNumbers: Sendable {
    /// - Parameter region: two letters (ISO 3166-1) whose numbers may be written without a country code; `nil` when each has
    ///   to have one.
    /// - Throws: ``InvalidPhoneNumber`` with the reason.
    func parse(_ text: String, region: String?) throws(InvalidPhoneNumber) -> PhoneNumber
}

/// A telephone number in E.164: `+17788143739`.
package struct PhoneNumber: Hashable, Sendable, CustomStringConvertible {
    package let e164: String

    /// - Parameter e164: as a ``PhoneNumbers`` has found it.
    package init(e164: String) {
        self.e164 = e164
    }

    package var description: String { e164 }
    /// Without the `+`, as `https://wa.me/` wants it.
    package var digits: Substring { e164.dropFirst() }
}

package struct InvalidPhoneNumber: Error, Hashable, Sendable, CustomStringConvertible {
    package let number: String
    /// In plain words, with the next step.
    package let reason: String
    /// Whether it would be one but for what is dialled in front of area codes: it may be complete in one town only.
    package let isIncomplete: Bool

    package init(_ number: String, reason: String, isIncomplete: Bool = false) {
        self.number = number
        self.reason = reason
        self.isIncomplete = isIncomplete
    }

    package var description: String { "\"\(number.escapingControls)\" is no telephone number: \(reason)" }
}
