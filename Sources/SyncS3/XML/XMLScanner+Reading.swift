import SyncCore

/// Reading a document as it comes, one element after the other.
extension XMLScanner {
    /// Begins a whole document. XML that was cut short or has another root is no reply, whatever its status says: S3 sends
    /// 200 first and may find its error later.
    /// - Parameter variant: another name of the root, that some store writes.
    mutating func root(_ root: String, or variant: String? = nil) throws(InvalidReply) -> Opening {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw InvalidReply(reason: "its XML is not in UTF-8")
        }
        guard let opening = try opening() else {
            throw InvalidReply(reason: "its XML begins with nothing in place of <\(root)>")
        }
        let name = name(of: opening)
        guard name == root || name == variant else {
            let found = Redaction.quote(name, limit: 40)
            throw InvalidReply(reason: "its XML begins with <\(found)> in place of <\(root)>")
        }
        return opening
    }

    /// Behind the root there is nothing.
    mutating func finish() throws(InvalidReply) {
        while let token = try next() {
            switch token {
            case .aside: continue
            case .text(let range) where bytes[range].allSatisfy(Self.isBlank): continue
            default: throw InvalidReply(reason: "its XML goes on behind its end")
            }
        }
    }

    /// The local name.
    func name(of element: Opening) -> String { String(decoding: nameBytes(of: element), as: UTF8.self) }

    /// The local name, for a `switch` over the names that are known.
    func nameBytes(of element: Opening) -> ArraySlice<UInt8> {
        let start = colon(in: element.name).map { $0 + 1 } ?? element.name.lowerBound
        return bytes[start..<element.name.upperBound]
    }

    /// Before the colon of its name; empty where there is none.
    func space(of element: Opening) -> String {
        colon(in: element.name).map { String(decoding: bytes[element.name.lowerBound..<$0], as: UTF8.self) } ?? ""
    }

    private func colon(in name: Range<Int>) -> Int? { bytes[name].firstIndex(of: UInt8(ascii: ":")) }

    func requireEnd(_ name: Range<Int>, of element: Opening) throws(InvalidReply) {
        guard name.count == element.name.count,
            zip(name, element.name).allSatisfy({ bytes[$0] == bytes[$1] })
        else { throw InvalidReply(reason: "a tag in its XML closes another element") }
    }

    /// Goes through the children of the element whose tag was read last, and on behind its end.
    /// - Parameter body: reads each child to its end, by one of these functions.
    mutating func children(
        of parent: Opening, _ body: (inout XMLScanner, Opening) throws(InvalidReply) -> Void
    ) throws(InvalidReply) {
        while let child = try child(of: parent) { try body(&self, child) }
    }

    /// - Returns: the next one, of which only the tag is read; `nil` behind the end of the parent.
    private mutating func child(of parent: Opening) throws(InvalidReply) -> Opening? {
        if parent.isEmpty { return nil }
        while let token = try next() {
            switch token {
            case .open(let child): return child
            case .close(let name):
                try requireEnd(name, of: parent)
                return nil
            case .text(let range): _ = try resolved(range)
            case .data, .aside: continue
            }
        }
        throw Self.cutShort
    }

    /// What is between the tags of the element whose tag was read last, and not in a child of it; references resolved.
    mutating func text(of element: Opening) throws(InvalidReply) -> String {
        var text = ""
        if element.isEmpty { return text }
        while let token = try next() {
            switch token {
            case .open(let child): try skip(child)
            case .close(let name):
                try requireEnd(name, of: element)
                return text
            case .text(let range):
                let part = try resolved(range)
                // Most texts are one part: it is not copied.
                text = text.isEmpty ? part : text + part
            case .data(let range): text += String(decoding: bytes[range], as: UTF8.self)
            case .aside: continue
            }
        }
        throw Self.cutShort
    }

    /// Reads on behind the end of the element whose tag was read last.
    mutating func skip(_ element: Opening) throws(InvalidReply) {
        var open = [element]
        while let last = open.last {
            guard let child = try child(of: last) else {
                open.removeLast()
                continue
            }
            guard open.count < Self.greatestDepth else { throw Self.tooDeep }
            open.append(child)
        }
    }

    private func resolved(_ range: Range<Int>) throws(InvalidReply) -> String {
        guard let text = bytes[range].xmlText else { throw Self.unknownReference }
        return text
    }
}

/// A name in the document, by its bytes.
func ~= (name: StaticString, bytes: ArraySlice<UInt8>) -> Bool {
    name.utf8CodeUnitCount == bytes.count && name.withUTF8Buffer { bytes.elementsEqual($0) }
}
