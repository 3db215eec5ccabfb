import FoundationEssentials
import SyncCore
import SyncTestSupport
import Testing

@testable import SyncS3

/// A listing is read as it comes. Whatever becomes of its bytes, it says what its tree says.
@Suite struct ListReplyTreeTests {
    private static let page = """
        <?xml version="1.0" encoding="UTF-8"?><!-- c --><ListBucketResult xmlns="http://x/"><Name>b</Name><Prefix>p/</Prefix>
        <EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>1+/=</NextContinuationToken>
        <Contents><Key>p/a+b%2Bc%26%C3%BC</Key><LastModified>2012-12-21T00:00:00.000Z</LastModified><ETag>&quot;5d41&quot;</ETag>
        <Size>5</Size><StorageClass>GLACIER</StorageClass><Owner><ID>x&#65;</ID></Owner><RestoreStatus><IsRestoreInProgress>
        false</IsRestoreInProgress><RestoreExpiryDate>2012-12-21T00:00:00Z</RestoreExpiryDate></RestoreStatus></Contents>
        <Contents><Key>p/<![CDATA[x]]>y</Key><Size>6</Size><ETag>W/"5d41"</ETag><Key>z</Key></Contents>
        <s:CommonPrefixes><Prefix>p/z/</Prefix></s:CommonPrefixes></ListBucketResult>
        """
    private static let pieces = [
        "<Key>", "</Key>", "&amp;", "&who;", "<a/>", "<Contents>", "</Contents>", "<![CDATA[", "]]>", "<!--", "-->",
        "<?x?>",
        "\"", "'", "<", ">", "/", "&", ";", "%", "+", "é", "\u{301}", "<Size>7</Size>", "s:", "W/", "<ETag/>",
        "<RestoreStatus/>", "<!DOCTYPE a [<!ENTITY b \"c\">]>", "\u{FEFF}", "x=\"y\"",
        "&quot;", "&#x26;", "\r\n\t", "</ETag>", "<ETag>&quot;", "<Contents/>", "</Contents><Contents>",
        "<Key>p/q</Key>",
    ]

    /// What the tree says of the objects in the page.
    private func told(_ tree: XMLElement) -> [[String?]] {
        tree.all("Contents").map { content in
            let restore = content.first("RestoreStatus")
            let names = ["Key", "Size", "ETag", "StorageClass", "LastModified"]
            return names.map { content[$0] } + [
                restore?.name, restore?["IsRestoreInProgress"], restore?["RestoreExpiryDate"],
            ]
        }
    }

    /// A page as its tree says it, without what the reader has to skip or put together.
    private func rewritten(_ tree: XMLElement) -> String {
        func element(_ name: String, _ text: String?) -> String {
            text.map { "<\(name)>\($0.xmlEscaped)</\(name)>" } ?? ""
        }
        let contents = told(tree).map { texts in
            let restore = element("IsRestoreInProgress", texts[6]) + element("RestoreExpiryDate", texts[7])
            return "<Contents>" + element("Key", texts[0]) + element("Size", texts[1]) + element("ETag", texts[2])
                + element("StorageClass", texts[3]) + element("LastModified", texts[4])
                + (texts[5] == nil ? "" : "<RestoreStatus>\(restore)</RestoreStatus>") + "</Contents>"
        }
        let own = ["EncodingType", "IsTruncated", "NextContinuationToken"].map { element($0, tree[$0]) }
        return "<ListBucketResult>\(own.joined())\(contents.joined())</ListBucketResult>"
    }

    @Test func `a page whose bytes are changed at random says what its tree says`() {
        var dice = Dice("SYNC_AGENT_LIST_SEED")
        var whole = 0
        for _ in 0..<4_000 {
            var bytes = Array(Self.page.utf8)
            for _ in 0...dice.below(3) {
                let (place, other) = (dice.below(bytes.count), dice.below(bytes.count))
                let end = min(bytes.count, place + 1 + dice.below(30))
                switch dice.below(4) {
                case 0: bytes[place] = UInt8(dice.below(256))
                case 1: bytes.insert(contentsOf: Array(Self.pieces[dice.below(Self.pieces.count)].utf8), at: place)
                case 2: bytes.insert(contentsOf: Array(bytes[place..<end]), at: other)
                default: bytes.removeSubrange(place..<end)
                }
            }
            let list = try? ListReply(bytes, prefix: "p/")
            guard let tree = try? XMLElement(document: bytes, root: "ListBucketResult") else {
                #expect(list == nil, "seed \(dice.seed): no document is a page")
                continue
            }
            let again = try? ListReply(Array(rewritten(tree).utf8), prefix: "p/")
            #expect(list == again, "seed \(dice.seed): \(String(decoding: bytes, as: UTF8.self))")
            whole += list == nil ? 0 : 1
        }
        #expect(whole > 100)
    }
}
