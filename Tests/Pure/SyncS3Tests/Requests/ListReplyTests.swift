import FoundationEssentials
import SyncCore
import Testing

@testable import SyncS3

@Suite struct ListReplyTests {
    private static let page = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!-- a comment -->
        <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
          <Name>b</Name><Prefix>p/</Prefix><EncodingType>url</EncodingType><KeyCount>3</KeyCount>
          <IsTruncated>true</IsTruncated><NextContinuationToken>1+/=</NextContinuationToken>
          <Contents><Key>p/a+b%2Bc%26%C3%BC</Key><LastModified>2012-12-21T00:00:00.000Z</LastModified>
            <ETag>&quot;5d41402abc4b2a76b9719d911017c592&quot;</ETag><Size>5</Size><StorageClass>GLACIER</StorageClass>
            <RestoreStatus><IsRestoreInProgress>false</IsRestoreInProgress>
              <RestoreExpiryDate>2012-12-21T00:00:00Z</RestoreExpiryDate></RestoreStatus></Contents>
          <Contents><Key>p/folder/</Key><Size>0</Size></Contents>
          <Contents><Key>p/%20x%20</Key><Size>6</Size><ETag>"5d41402abc4b2a76b9719d911017c592-2"</ETag></Contents>
          <CommonPrefixes><Prefix>p/z/</Prefix></CommonPrefixes>
        </ListBucketResult>
        """

    @Test func `A page has its objects without the prefix, and the token of the next`() throws {
        let date = Date(timeIntervalSince1970: 1_356_048_000)
        let page = try ListReply(Array(Self.page.utf8), prefix: "p/").page
        #expect(
            page.objects == [
                ObjectInfo(
                    key: try ObjectKey("a b+c&ü"), size: 5, md5: MD5Digest(hex: "5d41402abc4b2a76b9719d911017c592"),
                    etag: "5d41402abc4b2a76b9719d911017c592", storageClass: .glacier, restore: .restored(until: date),
                    modified: date),
                ObjectInfo(key: try ObjectKey(" x "), size: 6, etag: "5d41402abc4b2a76b9719d911017c592-2"),
            ])
        #expect(page.next == PageToken(rawValue: "1+/="))
    }

    @Test(arguments: [
        "2012-12-21T00:00:00.000Z", "2024-02-29T23:59:59.999Z", "2024-02-30T00:00:00.000Z", "1969-12-31T23:59:59.001Z",
        "2016-12-31T23:59:60.000Z", "2024-06-15T24:00:00.000Z", "2024-06-15T07:30:00+09:00",
        "2024-06-15T07:30:00.12+01:0Z",
        "2024-06-15 07:30:00.000Z", "2024-06-15T07:30:00Z", "2024-06-15T7:30:00.0000Z", "yesterday", "",
    ])
    func `A page has the time that its text says`(text: String) throws {
        let page =
            "<ListBucketResult><Contents><Key>a</Key><Size>1</Size><LastModified>\(text)</LastModified></Contents></ListBucketResult>"
        #expect(
            try ListReply(Array(page.utf8), prefix: "").page.objects.map(\.modified) == [CaptureTime(text)?.instant])
    }

    @Test func `Each entry of a page has its own time, whatever the one before has`() throws {
        let times = [
            "2024-06-15T07:30:00.000Z", "2024-06-15T23:59:59.999Z", "2024-06-15T24:00:00.000Z", "2024-06-16T00:00:00Z",
            "2024-02-30T00:00:00.000Z", "2024-06-16T00:00:01.000Z", "2024-06-15T07:30:00+09:00",
            "2023-06-16T00:00:01.000Z",
        ]
        let entries = times.enumerated().map {
            "<Contents><Key>\($0.offset)</Key><Size>1</Size><LastModified>\($0.element)</LastModified></Contents>"
        }
        let page = "<ListBucketResult>\(entries.joined())</ListBucketResult>"
        let modified = try ListReply(Array(page.utf8), prefix: "").page.objects.map(\.modified)
        #expect(modified == times.map { CaptureTime($0)?.instant })
    }

    @Test(
        arguments: [
            ("\"a-2\"", "a-2"), ("a", "a"), ("&quot;\u{FC}&amp;&#x62;&quot;", "\u{FC}&b"), ("&quot;&quot;", nil),
            ("", nil), ("W/&quot;a&quot;", nil), ("a\"b", "ab"), ("&quot;W/a&quot;", nil), ("\"W/\"a", nil), ("W", "W"),
            ("&quot;a&quot;b&quot;", "ab"), ("\"\"a\"\"", "a"), ("&quot;", nil), ("\"", nil), ("&quot;a", "a"),
            ("a&quot;", "a"), ("&quot;\"a&quot;", "a"), ("&quot;a-2&quot;", "a-2"),
        ] as [(String, String?)])
    func `An ETag has no quotes, and a weak one names no bytes`(text: String, etag: String?) throws {
        let page =
            "<ListBucketResult><Contents><Key>a</Key><Size>1</Size><ETag>\(text)</ETag></Contents></ListBucketResult>"
        #expect(try ListReply(Array(page.utf8), prefix: "").page.objects.map(\.etag) == [etag])
    }

    @Test(
        arguments: [
            "<Key>a&amp;b</Key><LastModified>2012-12-21T00:00:00.000Z</LastModified><ETag>&quot;t&quot;</ETag><Size>5</Size>",
            "<Size>5</Size> <ETag>\"t\"</ETag>\n<Key>a<![CDATA[&]]>b</Key><LastModified>2012-12-21T00:00:00Z</LastModified>",
            "<Key>a&#38;b</Key><Key>c</Key><Size>5</Size><Size>6</Size><ETag>t</ETag><ETag>&quot;u&quot;</ETag>"
                + "<LastModified>2012-12-21T00:00:00.000Z</LastModified><LastModified/>",
            "<Owner><ID>Key</ID><Key>c</Key></Owner><Size>5</Size><Key x='y'>a&amp;b</Key><Type>F&amp;O</Type><ETag>t</ETag>"
                + "<LastModified>2012-12-21T00:00:00.000Z</LastModified>",
            "\r\n\t<Size >5</Size ><!-- c --><s:ETag>t</s:ETag><Key>a&amp;<b/>b</Key>x<LastModified>2012-12-21 00:00:00Z"
                + "</LastModified>\r\n\t",
        ])
    func `An entry says the same, however it is written`(content: String) throws {
        let plain = "<Contents><Key>z</Key><Size>1</Size></Contents>"
        let text = "<ListBucketResult>\(plain)<Contents>\(content)</Contents>\n\(plain)</ListBucketResult>"
        let objects = try ListReply(Array(text.utf8), prefix: "").page.objects
        let key = try ObjectKey("a&b")
        let modified = Date(timeIntervalSince1970: 1_356_048_000)
        let other = ObjectInfo(key: try ObjectKey("z"), size: 1)
        #expect(objects == [other, ObjectInfo(key: key, size: 5, etag: "t", modified: modified), other])
    }

    @Test(
        arguments: [
            ("007", 7), ("+5", 5), ("-0", 0), ("70368744177664", 70_368_744_177_664), ("70368744177665", nil),
            ("00000000000000000000005", 5), ("99999999999999999999", nil), ("", nil), ("5 ", nil), ("5.0", nil),
            ("\u{FF15}", nil), ("-5", nil),
        ] as [(String, Int64?)])
    func `A size is a number that an object can have`(text: String, size: Int64?) throws {
        let page = "<ListBucketResult><Contents><Key>a</Key><Size>\(text)</Size></Contents></ListBucketResult>"
        let reply = try? ListReply(Array(page.utf8), prefix: "")
        #expect(reply?.page.objects.map(\.size) == size.map { [$0] })
    }

    @Test(
        arguments: [
            ("%s<Key>a%2Bb</Key><Size>1</Size>", "<IsRestoreInProgress>true</IsRestoreInProgress>", .inProgress),
            ("<Key>a%2Bb</Key>%s<Size>1</Size>", "<IsRestoreInProgress/>", .restored(until: nil)),
            ("<Key>a%2Bb</Key><Size>1</Size>%s<RestoreStatus><Is>true</Is></RestoreStatus>", "", .restored(until: nil)),
            ("<Key>a&#x25;2Bb</Key><Size>1</Size>\n%s", "<IsRestoreInProgress>TRUE</IsRestoreInProgress>", .inProgress),
            (
                "<Key>a%2Bb</Key><Key>a</Key><Size>1</Size>%s",
                "<RestoreExpiryDate>2012-12-21T00:00:00.000Z</RestoreExpiryDate>",
                .restored(until: Date(timeIntervalSince1970: 1_356_048_000))
            ),
        ] as [(String, String, RestoreState)])
    func `An entry tells of its restore, wherever that stands`(
        content: String, status: String, restore: RestoreState
    ) throws {
        let content = content.replacing("%s", with: "<RestoreStatus>\(status)</RestoreStatus>")
        let encoding = "<EncodingType>url</EncodingType>"
        let text = "<ListBucketResult><Contents>\(content)</Contents>\(encoding)</ListBucketResult>"
        let reply = try ListReply(Array(text.utf8), prefix: "")
        #expect(reply.page.objects == [ObjectInfo(key: try ObjectKey("a+b"), size: 1, restore: restore)])
        #expect(reply.tellsRestores)
    }

    @Test func `Each entry has its own class and digest`() throws {
        let md5 = "5d41402abc4b2a76b9719d911017c592"
        let classes: [String?] = [
            "GLACIER", "GLACIER", "GLACIES", "GLACIER_IR", nil, "GLACIER", "", "STANDARD", "Ü&amp;",
        ]
        let cut = String(md5.dropLast())
        let tags = [md5, md5.uppercased(), "\(md5)0", "\(md5)-2", cut, "\(cut)g", md5, "", md5]
        let entries = zip(classes, tags).enumerated().map { index, texts in
            let element = texts.0.map { "<StorageClass>\($0)</StorageClass>" } ?? ""
            return "<Contents><Key>\(index)</Key><ETag>\(texts.1)</ETag><Size>1</Size>\(element)</Contents>"
        }
        let text = "<ListBucketResult>\(entries.joined())</ListBucketResult>"
        let objects = try ListReply(Array(text.utf8), prefix: "").page.objects
        let expected = [
            "GLACIER", "GLACIER", "GLACIES", "GLACIER_IR", "STANDARD", "GLACIER", "STANDARD", "STANDARD", "Ü&",
        ]
        #expect(objects.map(\.storageClass.rawValue) == expected)
        #expect(objects.map { $0.md5?.description } == [md5, md5, nil, nil, nil, nil, md5, nil, md5])
    }

    @Test func `A key that begins with a combining accent is below its prefix`() throws {
        let text = "<ListBucketResult><Contents><Key>p/\u{301}x</Key><Size>1</Size></Contents></ListBucketResult>"
        #expect(try ListReply(Array(text.utf8), prefix: "p/").page.objects.map(\.key) == [ObjectKey("\u{301}x")])
    }

    @Test func `A page may have a prefix of a namespace, references and sections of plain text`() throws {
        let text = """
            \u{FEFF}<?xml version="1.0"?><s3:ListBucketResult xmlns:s3="x"><s3:Contents><s3:Key>a&amp;&#x62;<![CDATA[<c>]]></s3:Key>
            <s3:Size>1</s3:Size></s3:Contents></s3:ListBucketResult>
            """
        #expect(try ListReply(Array(text.utf8), prefix: "").page.objects.map(\.key) == [ObjectKey("a&b<c>")])
    }

    @Test func `A page tells whether it speaks of restores`() throws {
        #expect(try ListReply(Array(Self.page.utf8), prefix: "p/").tellsRestores)
        #expect(try !ListReply(Array("<ListBucketResult/>".utf8), prefix: "").tellsRestores)
    }

    @Test func `The last page may be empty`() throws {
        let text = "<ListBucketResult><Name>b</Name><IsTruncated>false</IsTruncated></ListBucketResult>"
        #expect(try ListReply(Array(text.utf8), prefix: "").page == ObjectPage(objects: []))
    }

    @Test func `A listing cut short anywhere is an error`() {
        let bytes = Array(Self.page.utf8)
        for count in stride(from: 0, to: bytes.count - 1, by: 7) {
            #expect(throws: InvalidReply.self, "cut after \(count) bytes") {
                try ListReply(Array(bytes.prefix(count)), prefix: "p/")
            }
        }
    }

    @Test(arguments: [
        "<Error><Code>InternalError</Code></Error>",
        "<html><body>Welcome to the hotel Wi-Fi</body></html>",
        "{}",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>many</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>9223372036854775807</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a&who;</Key><Size>1</Size></Contents></ListBucketResult>",
        "<ListBucketResult></ListBucketResult><Contents/>",
        "<ListBucketResult><Contents></ListBucketResult></Contents>",
        "<ListBucketResult><Contents><Key>a</Kez><Size>1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>1</Size><Owner><ID>a&who;</ID></Owner></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>1</Size><Owner></ID></Owner></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>1</Size><Type>a&who;</Type></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>1</Size><Key>a&who;</Key></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>1</Size><ETag>&quot;a&who;&quot;</ETag></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>1</Size></Content></ListBucketResult>",
        "<ListBucketResult><Contents/><Contents><Key>a</Key><Size>1</Size></Contents></ListBucketResult>",
        "<ListBucketResult>&who;</ListBucketResult>",
        "<ListBucketResult><Name>\(String(repeating: "<a>", count: 70))\(String(repeating: "</a>", count: 70))</Name></ListBucketResult>",
        "<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>%zz</Key><Size>1</Size></Contents></ListBucketResult>",
    ])
    func `What is no listing is an error`(text: String) {
        #expect(throws: InvalidReply.self) { try ListReply(Array(text.utf8), prefix: "") }
    }

    @Test(
        arguments: [
            ("<?xml version='1.0'?>\n<!-- <a> --><!DOCTYPE x><Error/>", "Error"), ("<s3:Error xmlns:s3='x'>", "Error"),
            ("", nil), ("text", nil), ("<!-- open", nil),
        ] as [(String, String?)])
    func `The root of a reply is found`(text: String, root: String?) {
        #expect(XMLElement.rootName(of: Array(text.utf8)) == root)
    }
}
