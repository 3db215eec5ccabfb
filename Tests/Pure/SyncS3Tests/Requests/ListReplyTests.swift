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

    @Test(
        arguments: [
            ("\"a-2\"", "a-2"), ("a", "a"), ("&quot;\u{FC}&amp;&#x62;&quot;", "\u{FC}&b"), ("&quot;&quot;", nil),
            ("", nil), ("W/&quot;a&quot;", nil), ("a\"b", "ab"),
        ] as [(String, String?)])
    func `An ETag has no quotes, and a weak one names no bytes`(text: String, etag: String?) throws {
        let page =
            "<ListBucketResult><Contents><Key>a</Key><Size>1</Size><ETag>\(text)</ETag></Contents></ListBucketResult>"
        #expect(try ListReply(Array(page.utf8), prefix: "").page.objects.map(\.etag) == [etag])
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
