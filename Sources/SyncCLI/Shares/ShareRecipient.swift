import ArgumentParser
import SyncCore
import SyncLedger

/// By what a link is sent.
enum ShareChannel: String, ExpressibleByArgument, CaseIterable {
    case whatsapp, sms, email

    /// On a button.
    var title: String {
        switch self {
        case .whatsapp: "WhatsApp"
        case .sms: "SMS"
        case .email: "Mail"
        }
    }
}

/// Who gets a link, and by what.
enum ShareRecipient: Hashable, Sendable {
    case whatsapp(PhoneNumber)
    case sms(PhoneNumber)
    case email(String)

    /// - Parameter region: whose numbers need no country code.
    /// - Throws: ``CommandFailure`` with the reason.
    init(_ text: String, via channel: ShareChannel, region: String?, numbers: any PhoneNumbers) throws {
        switch channel {
        case .whatsapp: self = .whatsapp(try Self.number(text, region, numbers))
        case .sms: self = .sms(try Self.number(text, region, numbers))
        case .email:
            guard Self.isAddress(text) else {
                throw CommandFailure(
                    .usage, "\"\(text.escapingControls)\" is no e-mail address; write it as name@example.org")
            }
            self = .email(text)
        }
    }

    /// An address that a program of this recipient's opens with the text ready to be sent.
    func link(subject: String, text: String) -> String {
        switch self {
        case .whatsapp(let number): "https://wa.me/\(number.digits)?text=\(text.uriEncoded())"
        // RFC 5724.
        case .sms(let number): "sms:\(number)?body=\(text.uriEncoded())"
        // RFC 6068: lines end in CRLF, and the @ stays.
        case .email(let address):
            "mailto:\(address.split(separator: "@").map { $0.uriEncoded() }.joined(separator: "@"))"
                + "?subject=\(subject.uriEncoded())&body=\(text.uriEncoded())"
        }
    }

    private static func number(
        _ text: String, _ region: String?, _ numbers: any PhoneNumbers
    ) throws -> PhoneNumber {
        do {
            return try numbers.parse(text, region: region)
        } catch {
            throw CommandFailure(.usage, "\(error)")
        }
    }

    /// Something, an @, and a host; whether it exists only sending shows.
    private static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, text.utf8.count <= 254,
            text.unicodeScalars.allSatisfy({
                $0.value > 32 && $0.value != 127 && !"<>()[]\\,;:\"".unicodeScalars.contains($0)
            })
        else { return false }
        let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return labels.count >= 2 && labels.allSatisfy { !$0.isEmpty && !$0.hasPrefix("-") && !$0.hasSuffix("-") }
    }
}

/// The message about a share that somebody is to get, ready to be sent.
struct ShareMessage {
    /// What opens with the message in it.
    let address: String

    /// `nil` as long as there is no link, and where nobody was named.
    init?(_ share: ShareRecord) {
        guard share.state == .live, let link = share.link,
            let recipient = share.recipient.flatMap({ ShareRecipient(note: $0) })
        else { return nil }
        address = recipient.link(subject: Self.subject(share), text: Self.text(share, link.url))
    }

    /// Addresses that open the message in what a person sends with, who chooses to whom there: by what, and where.
    /// - Parameter url: the link to tell.
    static func addresses(_ share: ShareRecord, _ url: String) -> [(channel: ShareChannel, address: String)] {
        let text = text(share, url).uriEncoded()
        return ShareChannel.allCases.map { channel in
            switch channel {
            case .whatsapp: (channel, "https://wa.me/?text=\(text)")
            case .sms: (channel, "sms:?body=\(text)")
            case .email: (channel, "mailto:?subject=\(subject(share).uriEncoded())&body=\(text)")
            }
        }
    }

    private static func subject(_ share: ShareRecord) -> String { "Photos of \(share.location)" }

    private static func text(_ share: ShareRecord, _ url: String) -> String {
        let from = share.sharedBy.map { "\($0) shares" } ?? "Here are"
        let end = share.link?.isEndKnown == true ? share.link.map { " (until \(CalendarDay($0.endsAt)))" } ?? "" : ""
        return "\(from) photos of \(share.location) with you: \(url)\(end)"
    }
}

extension ShareRecipient {
    /// As the ledger keeps it until the share is over: a share may wait for hours before there is a link.
    var note: String { "\(channel.rawValue):\(person)" }

    var channel: ShareChannel {
        switch self {
        case .whatsapp: .whatsapp
        case .sms: .sms
        case .email: .email
        }
    }

    /// A number or an address.
    var person: String {
        switch self {
        case .whatsapp(let number), .sms(let number): "\(number)"
        case .email(let address): address
        }
    }

    init?(note: String) {
        guard let colon = note.firstIndex(of: ":"), let channel = ShareChannel(rawValue: String(note[..<colon])) else {
            return nil
        }
        let address = String(note[note.index(after: colon)...])
        switch channel {
        case .whatsapp: self = .whatsapp(PhoneNumber(e164: address))
        case .sms: self = .sms(PhoneNumber(e164: address))
        case .email: self = .email(address)
        }
    }
}
