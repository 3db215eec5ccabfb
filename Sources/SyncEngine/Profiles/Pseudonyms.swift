import FoundationEssentials
import SyncCore
import SyncDigest
package import SyncLedger

/// What stands in keys and metadata in place of an id that may tell a telephone number.
///
/// It is a UUID by HMAC-SHA-256 with a key that only this machine's ledger has. A digest alone would be no secret: all
/// numbers of the world are tried in minutes.
package struct Pseudonyms: Sendable {
    private enum Kind: String {
        case profile, event
    }

    private let key: [UInt8]

    package init(key: [UInt8]) {
        self.key = key
    }

    /// - Throws: ``LedgerError``.
    package init(_ ledger: Ledger) throws(LedgerError) {
        key = try ledger.pseudonymKey()
    }

    package func profile(_ id: String) -> String { uuid(id, of: .profile) }
    package func event(_ id: String) -> String { uuid(id, of: .event) }

    /// RFC 9562, version 8, in lower case.
    private func uuid(_ id: String, of kind: Kind) -> String {
        var bytes = HMACSHA256.code(of: "\(kind.rawValue)\u{0}\(id)", key: key)
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let uuid: uuid_t = (
            bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
            bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
        )
        return UUID(uuid: uuid).uuidString.lowercased()
    }
}

/// Decides what of an event's words may stand in a key, or beside an object.
struct ArchiveWords: Sendable {
    private static let day = 86_400.0

    let phones: any PhoneNumbers
    /// Whose telephone numbers may be written without a country code.
    let region: String?

    func mayLeave(_ text: String) -> Bool { !phones.mayTellNumber(text, region: region) }

    /// - Parameter month: any day of the month in which the event was created. Apps make ids of the clock, which may have
    ///   been in another zone.
    func mayLeave(eventID id: String, of month: CalendarDay) -> Bool {
        guard let first = CalendarDay("\(month.description.prefix(8))01") else { return mayLeave(id) }
        let start = Double(first.daysSince1970) * Self.day
        let times =
            Date(
                timeIntervalSince1970: start - 2 * Self.day)...Date(
                timeIntervalSince1970: start + 33 * Self.day)
        return !phones.mayTellNumber(id, region: region, times: times)
    }

    /// The title, without its digits where they may be a telephone number; `nil` when that does not help.
    func title(_ title: String) -> String? {
        if mayLeave(title) { return title }
        var text = String.UnicodeScalarView()
        for scalar in title.unicodeScalars {
            if scalar.properties.numericType == nil, !"+＋%".unicodeScalars.contains(scalar) {
                text.append(scalar)
            } else if text.last != "…" {
                text.append("…")
            }
        }
        let masked = String(text)
        return mayLeave(masked) ? masked : nil
    }
}
