extension GalleryEventFile {
    /// The bytes of this file without some of its elements, and with others reduced to what an event without text keeps:
    /// id, user, profile, type and time. All other bytes are as they were.
    /// - Parameters:
    ///   - bytes: the whole file, as it was read.
    ///   - removed: indexes of elements.
    ///   - reduced: likewise; of objects.
    /// - Returns: `nil` when nothing is left.
    package func cut(_ bytes: [UInt8], removing removed: Set<Int>, reducing reduced: Set<Int>) -> [UInt8]? {
        if elements.damage == nil, removed.count == elements.elements.count { return nil }
        var result: [UInt8] = []
        let kept = elements.elements.indices.filter { !removed.contains($0) }
        let pieces = elements.pieces(without: removed)
        for (position, piece) in pieces.enumerated() {
            // The first piece is what comes before the elements, the last what comes behind them.
            guard position > 0, position < pieces.count - 1, reduced.contains(kept[position - 1]),
                let object = JSONObject(bytes, at: elements.elements[kept[position - 1]])
            else {
                result += bytes[piece]
                continue
            }
            result += bytes[piece.lowerBound..<elements.elements[kept[position - 1]].lowerBound]
            result += object.bare
        }
        return result
    }
}

extension JSONObject {
    /// The object with nothing but the members that an event without text keeps, as they are written.
    fileprivate var bare: [UInt8] {
        let kept = members.filter { GalleryEventReader.bareNames.contains($0.name) }
        return Array("{".utf8) + kept.map { self[$0.range] }.joined(separator: ",".utf8) + Array("}".utf8)
    }
}
