extension GalleryEventFile {
    /// The bytes of this file without some of its elements, and with others reduced to what an event without text keeps:
    /// id, user, profile, type and time. All other bytes are as they were.
    /// - Parameters:
    ///   - bytes: the whole file, as it was read, in UTF-8.
    ///   - removed: indexes of elements.
    ///   - reduced: likewise; of events.
    /// - Returns: `nil` when nothing is left.
    package func cut(_ bytes: [UInt8], removing removed: Set<Int>, reducing reduced: Set<Int>) -> [UInt8]? {
        if elements.isEmpty(without: removed) { return nil }
        var edits = elements.cuts(without: removed).map { (range: $0, text: [UInt8]()) }
        for event in events where reduced.contains(event.index) && !removed.contains(event.index) {
            let range = elements.elements[event.index]
            guard let object = JSONObject(bytes, at: range) else { continue }
            edits.append((range, object.bare(of: event.type)))
        }
        var result: [UInt8] = []
        var position = 0
        for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            result += bytes[position..<edit.range.lowerBound]
            result += edit.text
            position = edit.range.upperBound
        }
        return result + bytes[position...]
    }
}

extension JSONObject {
    /// The object with nothing but the members that an event without text keeps, as they are written. Where only its data
    /// told of which type it is, that is written down.
    fileprivate func bare(of type: GalleryEventType) -> [UInt8] {
        let kept = members.filter { GalleryEventReader.bareNames.contains($0.name.inBytes) }
        var parts = kept.map { Array(self[$0.range]) }
        if all("eventType").allSatisfy({ isNull($0.value) }) {
            parts.removeAll { $0.starts(with: "\"eventType\"".utf8) }
            parts.append(Array(#""eventType":"\#(type.rawValue)""#.utf8))
        }
        return Array("{".utf8) + parts.joined(separator: ",".utf8) + Array("}".utf8)
    }
}
