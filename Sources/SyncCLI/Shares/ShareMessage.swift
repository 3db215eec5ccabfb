import SyncCore
import SyncLedger

/// The message about a share that somebody is to get, ready to be sent.
struct ShareMessage {
    /// What opens with the message in it.
    let address: String

    /// `nil` as long as there is no link, and where nobody was named.
    init?(_ share: ShareRecord) {
        guard share.state == .live, let link = share.link,
            let recipient = share.recipient.flatMap({ ShareRecipient(note: $0) })
        else { return nil }
        let from = share.sharedBy.map { "\($0) shares" } ?? "Here are"
        let end = link.isEndKnown ? " (until \(CalendarDay(link.endsAt)))" : ""
        address = recipient.link(
            subject: "Photos of \(share.location)",
            text: "\(from) photos of \(share.location) with you: \(link.url)\(end)")
    }
}

extension ShareRecipient {
    /// As the ledger keeps it until the share is over: a share may wait for hours before there is a link.
    var note: String {
        switch self {
        case .whatsapp(let number): "\(ShareChannel.whatsapp.rawValue):\(number)"
        case .sms(let number): "\(ShareChannel.sms.rawValue):\(number)"
        case .email(let address): "\(ShareChannel.email.rawValue):\(address)"
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
