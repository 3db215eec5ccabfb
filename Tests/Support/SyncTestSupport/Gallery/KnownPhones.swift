package import SyncCore

/// Numbers of which all spellings are their digits with a `+`, and those of 10 digits belong to Canada.
package struct KnownPhones: PhoneNumbers {
    package init() {}

    package func parse(_ text: String, region: String?) throws(InvalidPhoneNumber) -> PhoneNumber {
        let digits = text.filter(\.isNumber)
        if text.contains("+") { return PhoneNumber(e164: "+" + digits) }
        guard region == "CA", digits.count == 10 else { throw InvalidPhoneNumber(text, reason: "no country code") }
        return PhoneNumber(e164: "+1" + digits)
    }
}
