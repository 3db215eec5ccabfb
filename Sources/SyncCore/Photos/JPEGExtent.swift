/// What a JPEG file holds beyond its first picture (ITU-T T.81, annex B): a second picture, a gain map, a film, a
/// depth map. A reduced copy has none of it.
package struct JPEGExtent: Hashable, Sendable {
    /// Whether something is in it that is not the first picture.
    package let holdsMore: Bool
    /// Pixels of the first picture, as they are stored; `nil` where the header could not be read.
    package let width: Int?
    package let height: Int?

    /// - Parameter file: the bytes of a JPEG that a decoder took.
    package init(_ file: [UInt8]) {
        (holdsMore, width, height) = file.withUnsafeBufferPointer { bytes in
            var walk = Walk(bytes: bytes)
            walk.run()
            return (walk.holdsMore, walk.width, walk.height)
        }
    }

    private struct Walk {
        let bytes: UnsafeBufferPointer<UInt8>
        var offset = 2
        var holdsMore = false
        var width: Int?
        var height: Int?

        /// What cannot be followed to the end of the picture may be followed by anything.
        mutating func run() {
            while let marker = nextMarker() {
                switch marker {
                case 0xD9:
                    holdsMore = holdsMore || !isPadding(from: offset)
                    return
                case 0x01, 0xD0...0xD8: break
                default:
                    guard let length = number(at: offset), length >= 2, offset + length <= bytes.count else {
                        holdsMore = true
                        return
                    }
                    note(marker, offset + 2..<offset + length)
                    offset += length
                }
            }
            holdsMore = true
        }

        /// Steps behind the next marker; what an entropy-coded part has in its place (`FF 00`, restarts) is none.
        private mutating func nextMarker() -> UInt8? {
            while offset + 1 < bytes.count {
                guard bytes[offset] == 0xFF else {
                    offset += 1
                    continue
                }
                let marker = bytes[offset + 1]
                if marker == 0xFF {
                    offset += 1
                    continue
                }
                offset += 2
                if marker != 0, !(0xD0...0xD7).contains(marker) { return marker }
            }
            return nil
        }

        private mutating func note(_ marker: UInt8, _ segment: Range<Int>) {
            switch marker {
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                (height, width) = (number(at: segment.lowerBound + 1), number(at: segment.lowerBound + 3))
            // The parts of an XMP packet that is too large for one segment: pictures in base64, as a depth map is.
            case 0xE1: holdsMore = holdsMore || has("http://ns.adobe.com/xmp/extension/", in: segment)
            // CIPA DC-007: where the other pictures of the file are.
            case 0xE2: holdsMore = holdsMore || has("MPF\0", in: segment)
            // ISO 19566-5: boxes, of which some are pictures.
            case 0xEB: holdsMore = holdsMore || has("JP", in: segment)
            default: break
            }
        }

        private func has(_ name: StaticString, in segment: Range<Int>) -> Bool {
            name.withUTF8Buffer { bytes[segment].starts(with: $0) }
        }

        private func number(at index: Int) -> Int? {
            index + 1 < bytes.count ? Int(bytes[index]) << 8 | Int(bytes[index + 1]) : nil
        }

        private func isPadding(from start: Int) -> Bool {
            bytes[start...].allSatisfy { [0, 0xFF, 0x0A, 0x0D, 0x20].contains($0) }
        }
    }
}
