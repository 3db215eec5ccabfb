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

    /// What opens a message in the program of this channel, ready to be sent.
    /// - Parameter person: a number in E.164, or an address; empty where whoever sends it chooses.
    func address(to person: String = "", subject: String, text: String) -> String {
        let text = text.uriEncoded()
        return switch self {
        case .whatsapp: "https://wa.me/\(person.dropFirst())?text=\(text)"
        // RFC 5724.
        case .sms: "sms:\(person)?body=\(text)"
        // RFC 6068: lines end in CRLF, and the @ stays.
        case .email:
            "mailto:\(person.split(separator: "@").map { $0.uriEncoded() }.joined(separator: "@"))"
                + "?subject=\(subject.uriEncoded())&body=\(text)"
        }
    }
}

/// Who gets a link, and by what.
struct ShareRecipient: Hashable, Sendable {
    let channel: ShareChannel
    /// A number in E.164, or an address.
    let person: String
}

extension ShareRecipient {
    /// - Parameter region: whose numbers need no country code.
    /// - Throws: ``CommandFailure`` with the reason.
    init(_ text: String, via channel: ShareChannel, region: String?, numbers: any PhoneNumbers) throws {
        self.init(channel: channel, person: try channel == .email ? text : Self.number(text, region, numbers).e164)
        guard channel != .email || Self.isAddress(text) else {
            throw CommandFailure(
                .usage, "\"\(text.escapingControls)\" is no e-mail address; write it as name@example.org")
        }
    }

    /// An address that a program of this recipient's opens with the text ready to be sent.
    func link(subject: String, text: String) -> String {
        channel.address(to: person, subject: subject, text: text)
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
        ShareChannel.allCases.map { ($0, $0.address(subject: subject(share), text: text(share, url))) }
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

    init?(note: String) {
        guard let colon = note.firstIndex(of: ":"), let channel = ShareChannel(rawValue: String(note[..<colon])) else {
            return nil
        }
        self.init(channel: channel, person: String(note[note.index(after: colon)...]))
    }
}
