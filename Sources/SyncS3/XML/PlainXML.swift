import Glibc
import SyncCore

/// `<Name>text</Name>`: without an attribute or a prefix of a namespace, and with nothing inside but text. Almost all of a
/// listing is written so, 5,000 of them in a page: they are read where the bytes are, without a token for each tag.
/// Whatever is written otherwise is left to ``XMLScanner``, which says the same of these.
struct PlainXMLElement {
    let name: UnsafeBufferPointer<UInt8>
    /// As it is written: with its references.
    let text: Range<Int>
    /// Behind the element.
    let end: Int

    /// - Parameter offset: where it begins; blanks may be before it.
    init?(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int) {
        guard let document = bytes.baseAddress else { return nil }
        let tag = bytes.behindBlanks(from: offset)
        guard tag < bytes.count, document[tag] == UInt8(ascii: "<") else { return nil }
        var place = tag + 1
        // ASCII letters, in either case.
        while place < bytes.count, (document[place] | 0x20) &- UInt8(ascii: "a") < 26 { place += 1 }
        let length = place - tag - 1
        guard length > 0, place < bytes.count, document[place] == UInt8(ascii: ">") else { return nil }
        let start = place + 1
        guard let mark = memchr(document + start, Int32(UInt8(ascii: "<")), bytes.count - start) else { return nil }
        let close = UnsafeRawPointer(mark) - UnsafeRawPointer(document)
        guard let end = bytes.endOfTag(at: close, closing: tag + 1..<place) else { return nil }
        name = UnsafeBufferPointer(start: document + tag + 1, count: length)
        text = start..<close
        self.end = end
    }
}

/// Tags as almost all are written. Blanks may be before them, as between the lines of a document that people read.
extension XMLScanner {
    /// Begins an element whose tag is `<name>`; any other is left for ``next()``.
    mutating func plainOpening(_ name: StaticString) -> Opening? {
        var opening: Opening?
        advance { bytes, offset in
            guard let document = bytes.baseAddress else { return offset }
            let tag = bytes.behindBlanks(from: offset)
            let place = tag + 1..<tag + 1 + name.utf8CodeUnitCount
            guard place.upperBound < bytes.count, document[tag] == UInt8(ascii: "<"),
                document[place.upperBound] == UInt8(ascii: ">"),
                memcmp(document + place.lowerBound, name.utf8Start, place.count) == 0
            else { return offset }
            opening = Opening(start: tag, name: place, localName: place, hasAttributes: false, isEmpty: false)
            return place.upperBound + 1
        }
        return opening
    }

    /// Ends an element with `</name>`, where that is next.
    mutating func takesEnd(of element: Opening) -> Bool {
        var end: Int?
        advance { bytes, offset in
            end = bytes.endOfTag(at: bytes.behindBlanks(from: offset), closing: element.name)
            return end ?? offset
        }
        return end != nil
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func behindBlanks(from offset: Int) -> Int {
        var place = offset
        while place < count, self[place].isBlank { place += 1 }
        return place
    }

    /// - Parameter name: where the name stands in the tag that the one at `offset` closes.
    /// - Returns: behind it; `nil` where no such tag is there.
    fileprivate func endOfTag(at offset: Int, closing name: Range<Int>) -> Int? {
        let end = offset + name.count + 3
        guard end <= count, let document = baseAddress, document[offset] == UInt8(ascii: "<"),
            document[offset + 1] == UInt8(ascii: "/"), document[end - 1] == UInt8(ascii: ">"),
            memcmp(document + offset + 2, document + name.lowerBound, name.count) == 0
        else { return nil }
        return end
    }
}
