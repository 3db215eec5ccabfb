import SyncCore
import Testing

@testable import SyncCLI

@Suite struct ShareRecipientTests {
    /// Knows one number.
    private struct Numbers: PhoneNumbers {
        func parse(_ text: String, region: String?) throws(InvalidPhoneNumber) -> PhoneNumber {
            guard text == "0151 234" || text == "+49151234", region == "DE" || text.hasPrefix("+") else {
                throw InvalidPhoneNumber(text, reason: "it has no country code")
            }
            return PhoneNumber(e164: "+49151234")
        }
    }

    @Test(arguments: [
        ("0151 234", ShareChannel.whatsapp, "https://wa.me/49151234?text=Hi%20%26%20bye%3F%20%C3%A9%0A"),
        ("+49151234", .sms, "sms:+49151234?body=Hi%20%26%20bye%3F%20%C3%A9%0A"),
        (
            "ana+trip@example.org", .email,
            "mailto:ana%2Btrip@example.org?subject=A%26B&body=Hi%20%26%20bye%3F%20%C3%A9%0A"
        ),
    ])
    func `the message is ready to be sent`(to: String, via: ShareChannel, link: String) throws {
        let recipient = try ShareRecipient(to, via: via, region: "DE", numbers: Numbers())
        let address = recipient.channel.address(to: recipient.person, subject: "A&B", text: "Hi & bye? é\n")
        #expect(address == link)
    }

    @Test(arguments: [
        ("0151 234", ShareChannel.sms), ("", .whatsapp), ("ana", .email), ("ana@", .email), ("@example.org", .email),
        ("a@b", .email), ("a@b..org", .email), ("a b@example.org", .email), ("a@b@c.org", .email),
        ("a,b@example.org", .email), ("a@-b.org", .email), ("a\n@example.org", .email), ("", .email),
    ])
    func `who cannot be reached is refused with the reason`(to: String, via: ShareChannel) throws {
        let failure = try #require(throws: CommandFailure.self) {
            try ShareRecipient(to, via: via, region: nil, numbers: Numbers())
        }
        #expect(failure.status == .usage)
        #expect(!failure.description.contains("\n"))
    }
}
