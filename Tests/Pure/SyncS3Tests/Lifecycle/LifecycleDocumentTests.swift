import SyncCore
import SyncTestSupport
import Testing

@testable import SyncS3

@Suite struct LifecycleDocumentTests {
    private static let own: [LifecycleRule] = [
        LifecycleRule(
            id: "sync-agent-photos-ana",
            content: .own(
                TierRule(
                    prefix: "users/ana/photos/", largerThan: 131_072,
                    transition: TierRule.Transition(afterDays: 180, storageClass: .deepArchive)))),
        LifecycleRule(
            id: "sync-agent-shares",
            content: .own(TierRule(prefix: "shares/", expireAfterDays: 31, expireEarlierAfterDays: 1))),
        LifecycleRule(id: "sync-agent-uploads", content: .own(TierRule(prefix: "", abortUploadsAfterDays: 7))),
        LifecycleRule(
            id: "sync-agent-all & <more>",
            content: .own(TierRule(prefix: "", largerThan: 0, expireAfterDays: 1, abortUploadsAfterDays: 2))),
    ]

    private func read(_ text: String, prefix: String = "") throws -> LifecycleDocument {
        try LifecycleDocument(Array(text.utf8), names: LifecycleRuleNames(prefix: prefix))
    }

    private func wrap(_ rules: String) -> String {
        "<LifecycleConfiguration>\(rules)</LifecycleConfiguration>"
    }

    @Test(arguments: ["", "backup/", "a&b/ü/"])
    func `Our rules come back as they were written`(prefix: String) throws {
        let names = LifecycleRuleNames(prefix: prefix)
        let text = LifecycleDocument(names: names).text(with: Self.own)
        #expect(try read(text, prefix: prefix).rules == Self.own)
    }

    @Test func `The elements of a rule have the order of the schema`() {
        let text = LifecycleDocument(names: LifecycleRuleNames(prefix: "p/")).text(with: Array(Self.own.prefix(3)))
        #expect(
            text == """
                <LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">\
                <Rule><ID>sync-agent-photos-ana in p/</ID><Filter><And><Prefix>p/users/ana/photos/</Prefix>\
                <ObjectSizeGreaterThan>131072</ObjectSizeGreaterThan></And></Filter><Status>Enabled</Status>\
                <Transition><Days>180</Days><StorageClass>DEEP_ARCHIVE</StorageClass></Transition></Rule>\
                <Rule><ID>sync-agent-shares in p/</ID><Filter><Prefix>p/shares/</Prefix></Filter>\
                <Status>Enabled</Status><Expiration><Days>31</Days></Expiration>\
                <NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays></NoncurrentVersionExpiration></Rule>\
                <Rule><ID>sync-agent-uploads in p/</ID><Filter><Prefix>p/</Prefix></Filter><Status>Enabled</Status>\
                <AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation>\
                </AbortIncompleteMultipartUpload></Rule></LifecycleConfiguration>
                """)
    }

    /// The document is read, ours are put in among the others, and it is read again.
    @Test(arguments: 0..<400 as Range<UInt64>)
    func `Other people's rules stay as they are, to the byte`(seed: UInt64) throws {
        var source = ForeignRules(seed: seed)
        let (text, foreign) = source.document()
        let document = try read(text)
        let contents = document.rules.map(\.content)
        #expect(contents == foreign.map { .foreign($0) }, "seed \(seed): \(text)")
        var merged = document.rules
        for (index, rule) in Self.own.enumerated() {
            merged.insert(rule, at: Int(seed) % (merged.count + 1) * index / Self.own.count)
        }
        let written = document.text(with: merged)
        let again = try read(written)
        #expect(again.rules == merged, "seed \(seed): \(written)")
        #expect(again.text(with: again.rules) == written)
        // What the root declares for prefixes and entities stands before the rules, as it did.
        let end = text.firstRange(of: "x:note=\"a>b\">")?.upperBound ?? text.startIndex
        #expect(written.utf8.starts(with: text[..<end].utf8))
    }

    private static let ours =
        "<Rule><ID>sync-agent-x in p/</ID><Filter><Prefix>p/y/</Prefix></Filter><Status>Enabled</Status>"
        + "<Expiration><Days>3</Days></Expiration></Rule>"

    private static let expiry = TierRule(prefix: "y/", expireAfterDays: 3)

    /// Rules that have our mark.
    @Test(
        arguments: [
            ("", "", expiry),
            // Blanks, another order, references, the old form of a prefix: they say the same.
            ("</ID>", "</ID>\n  ", expiry), ("<Status>Enabled</Status>", "", nil),
            ("<Filter><Prefix>p/y/</Prefix></Filter>", "<Prefix>p/y/</Prefix>", expiry),
            ("<Prefix>p/y/</Prefix>", "<And><Prefix>p/y/</Prefix></And>", expiry),
            ("p/y/", "p&#x2F;&#121;/", expiry), ("sync-agent-x", "sync&#45;agent-x", expiry),
            // Any of these says something else, or more.
            ("Enabled", "Disabled", nil), ("p/y/", "q/y/", nil), ("p/y/", "p", nil),
            ("<Prefix>p/y/</Prefix>", "", nil), ("<Days>3</Days>", "<Days>3</Days><New/>", nil),
            ("<Days>3</Days>", "<Date>2030-01-01T00:00:00Z</Date>", nil), ("<Days>3", "<Days>-3", nil),
            ("<Days>3</Days>", "<Days>3</Days><Days>4</Days>", nil), ("<Days>3", "<Days> 3", nil),
            ("</Rule>", "<NoncurrentVersionExpiration/></Rule>", nil), ("</Rule>", "!</Rule>", nil),
            ("</Prefix>", "</Prefix><Tag/>", nil), ("p/y/", "<![CDATA[p/y/]]>", nil),
            ("<Status>", "<!-- mine --><Status>", nil), ("<Status>", "<Status a='1'>", nil),
            ("p/y/", "p/y/&unknown;", nil), ("<Rule>", "<Rule xmlns='urn:x'>", nil),
        ] as [(String, String, TierRule?)])
    func `A rule is ours when it says what we can say and nothing else`(
        part: String, other: String, expected: TierRule?
    ) throws {
        let text = part.isEmpty ? Self.ours : Self.ours.replacing(part, with: other)
        let rule = try #require(try read(wrap(text), prefix: "p/").rules.first)
        #expect(rule.id == "sync-agent-x")
        #expect(rule.content == expected.map { .own($0) } ?? .foreign(text))
    }

    @Test func `A prefix of the root goes before our elements, too`() throws {
        let text = "<s3:LifecycleConfiguration xmlns:s3=\"http://s3.amazonaws.com/doc/2006-03-01/\"/>"
        let written = try read(text).text(with: [Self.own[1]])
        #expect(
            written
                == "<s3:LifecycleConfiguration xmlns:s3=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                + "<s3:Rule><s3:ID>sync-agent-shares</s3:ID><s3:Filter><s3:Prefix>shares/</s3:Prefix></s3:Filter>"
                + "<s3:Status>Enabled</s3:Status><s3:Expiration><s3:Days>31</s3:Days></s3:Expiration>"
                + "<s3:NoncurrentVersionExpiration><s3:NoncurrentDays>1</s3:NoncurrentDays>"
                + "</s3:NoncurrentVersionExpiration></s3:Rule>"
                + "</s3:LifecycleConfiguration>")
        #expect(try read(written).rules == [Self.own[1]])
        let mixed = written.replacing("s3:Rule>", with: "Rule>")
        #expect(try read(mixed).rules.map(\.content) != [Self.own[1].content])
    }

    @Test func `An element beside the rules is kept like one of them`() throws {
        let document = try read(wrap("<Quota>5</Quota>"))
        #expect(document.rules == [LifecycleRule(id: "", content: .foreign("<Quota>5</Quota>"))])
    }

    @Test func `A document that is cut anywhere is none`() {
        let text = wrap(Self.ours + "<Rule><!-- x --><ID><![CDATA[y]]></ID></Rule>")
        for count in 0..<text.utf8.count {
            #expect(throws: InvalidReply.self, "cut after \(count) bytes") {
                try read(String(decoding: text.utf8.prefix(count), as: UTF8.self))
            }
        }
    }

    private static let noDocuments = [
        "<Error><Code>InternalError</Code></Error>", "<html/>", "rules", "{}",
        "<LifecycleConfiguration>text</LifecycleConfiguration>",
        // Without its last slash, the root would be an element by itself still.
        "<LifecycleConfiguration//>", "<LifecycleConfiguration / />",
        "<LifecycleConfiguration></LifecycleConfiguration/>",
        "<LifecycleConfiguration><![CDATA[x]]></LifecycleConfiguration>",
        "<LifecycleConfiguration></LifecycleConfiguration><Rule/>",
        "<LifecycleConfiguration><Rule></LifecycleConfiguration></Rule>",
        "<LifecycleConfiguration><Rule><ID></Rule></ID></LifecycleConfiguration>",
        "<LifecycleConfiguration>< Rule/></LifecycleConfiguration>", "</LifecycleConfiguration>",
        "<LifecycleConfiguration>" + String(repeating: "<a>", count: 100_000),
    ]

    @Test(arguments: noDocuments.map { LongText($0) })
    func `What is no lifecycle document is an error`(document: LongText) {
        #expect(throws: InvalidReply.self) { try read(document.text) }
    }

    /// The parts of a name would not be put together again as they were.
    @Test(arguments: [
        "<:LifecycleConfiguration/>", "<:LifecycleConfiguration></:LifecycleConfiguration>",
        "<s3::LifecycleConfiguration/>", "<LifecycleConfiguration:/>", "<:/>",
        "<LifecycleConfiguration><:Rule/></LifecycleConfiguration>",
        "<LifecycleConfiguration><Rule:/></LifecycleConfiguration>",
        "<LifecycleConfiguration><a:b:Rule/></LifecycleConfiguration>",
    ])
    func `A name with a colon out of place is an error`(text: String) {
        #expect(throws: InvalidReply(reason: "the name of a tag in its XML has a colon out of place")) {
            try read(text)
        }
    }

    @Test(arguments: [
        "<LifecycleConfiguration/><!C <>", "<LifecycleConfiguration/><!DOCTYPE x>",
        "<LifecycleConfiguration><!x></LifecycleConfiguration>",
        "<LifecycleConfiguration><Rule><!-x></Rule></LifecycleConfiguration>",
    ])
    func `A declaration behind the first tag is an error`(text: String) {
        #expect(throws: InvalidReply(reason: "its XML has a declaration behind its first tag")) { try read(text) }
    }

    @Test func `Another encoding than UTF-8 is an error`() {
        let bytes = Array("<LifecycleConfiguration><Rule>".utf8) + [0xE4]
        #expect(throws: InvalidReply.self) {
            try LifecycleDocument(
                bytes + Array("</Rule></LifecycleConfiguration>".utf8), names: LifecycleRuleNames(prefix: ""))
        }
    }
}
