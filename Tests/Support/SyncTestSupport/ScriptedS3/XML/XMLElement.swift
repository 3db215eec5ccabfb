/// An element to be written, or one that was read: a name and either text or children.
struct XMLElement: Sendable {
    let name: String
    var text: String
    var children: [XMLElement]

    init(_ name: String, _ text: String) {
        self.name = name
        self.text = text
        children = []
    }

    init(_ name: String, _ children: [XMLElement] = []) {
        self.name = name
        text = ""
        self.children = children
    }

    func first(_ name: String) -> XMLElement? {
        children.first { $0.name == name }
    }

    func all(_ name: String) -> [XMLElement] {
        children.filter { $0.name == name }
    }

    /// A whole document in S3's namespace; an error has none.
    var document: [UInt8] {
        let space = name == "Error" ? "" : " xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\""
        return Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<\(name)\(space)>\(content)</\(name)>".utf8)
    }

    private var content: String {
        children.isEmpty ? text.xmlEscaped : children.map { "<\($0.name)>\($0.content)</\($0.name)>" }.joined()
    }
}

extension String {
    /// As S3 writes keys: control characters become references, although XML 1.0 allows most of them not even so. That
    /// is why a client asks for `encoding-type=url`.
    fileprivate var xmlEscaped: String {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(utf8.count)
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "&"): escaped += Array("&amp;".utf8)
            case UInt8(ascii: "<"): escaped += Array("&lt;".utf8)
            case UInt8(ascii: ">"): escaped += Array("&gt;".utf8)
            case UInt8(ascii: "\""): escaped += Array("&quot;".utf8)
            case 0..<0x20: escaped += Array("&#x\(String(byte, radix: 16));".utf8)
            default: escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}
