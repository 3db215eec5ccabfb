import CSyncPhone
package import SyncCore

/// Telephone numbers by Google's libphonenumber, that is by the numbering plans of all countries.
///
/// Making one costs nothing. The first number that is parsed reads the library's tables: 3 ms and 4 MiB.
package struct LibPhoneNumbers: PhoneNumbers {
    /// Bytes. The library reads at most 250 characters as a number.
    private static let longestText = 1_000

    package init() {}

    package func parse(_ text: String, region: String?) throws(InvalidPhoneNumber) -> PhoneNumber {
        guard text.utf8.count <= Self.longestText else {
            throw InvalidPhoneNumber(text, reason: "it is too long for one")
        }
        let region = region?.uppercased()
        let answer = text.withCString { CSyncPhone_Parse($0, text.utf8.count, region) }
        if let reason = Self.reason(answer, region: region) {
            throw InvalidPhoneNumber(text, reason: reason, isIncomplete: answer.verdict == .noPrefix)
        }
        return PhoneNumber(e164: Self.text(answer.e164))
    }

    /// What is wrong, and what helps; `nil` when nothing is.
    private static func reason(_ answer: CSyncPhone_Answer, region: String?) -> String? {
        switch answer.verdict {
        case .number: nil
        case .notANumber: "there are no digits in it that could be dialled"
        case .tooShort: "it has too few digits\(code(answer))"
        case .tooLong: "it has too many digits\(code(answer))"
        case .localOnly:
            "its area code is missing, without which it cannot be dialled from everywhere"
        case .noPrefix:
            "its area code is missing, or what is dialled in front of that; begin it with + and the country code"
        case .unknownCountryCode: "no country has this code; check the digits behind the +"
        case .notAssigned: "no such number exists\(code(answer)); check its digits"
        case .extension:
            "it has an extension, which cannot be dialled from everywhere; leave the extension out"
        case .noRegion:
            "it has no country code; begin it with + and the code, or set share.phone_region"
        case .unknownRegion:
            "it has no country code, and \"\(region?.escapingControls ?? "")\" is no region; use two letters, such as US"
        case .noLibrary:
            "libphonenumber is missing, or is of another version than the one this program was made with; install it"
        case .failed: "memory is short; close something, and try again"
        }
    }

    private static func code(_ answer: CSyncPhone_Answer) -> String {
        answer.countryCode == 0 ? "" : " for the country code +\(answer.countryCode)"
    }

    private static func text<Characters>(_ characters: Characters) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
