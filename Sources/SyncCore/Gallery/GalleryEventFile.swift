/// What a file of gallery events holds, without its texts.
package struct GalleryEventFile: Hashable, Sendable {
    /// Bytes. Larger files are not read.
    package static let maximumSize: Int64 = 256 << 20

    package let elements: JSONElements
    /// In the order of the file. An id may be there twice.
    package let events: [GalleryEvent]
    /// What is no event, and, when the file is damaged, its tail.
    package let malformed: [MalformedEvent]

    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - profile: of events that name none.
    /// - Returns: `nil` when this is no file of events: no element looks like one. An element does when it has an id and a
    ///   time, type or photo, whatever they are.
    package init?(_ bytes: [UInt8], profile: String?) {
        let elements = JSONElements(of: bytes)
        let reader = GalleryEventReader(profile: profile)
        var events: [GalleryEvent] = []
        var malformed: [MalformedEvent] = []
        var isEventFile = false
        for (index, range) in elements.elements.enumerated() {
            let object = JSONObject(bytes, at: range)
            isEventFile = isEventFile || object?.looksLikeEvent ?? false
            switch reader.read(object, in: bytes, index: index) {
            case .success(let event): events.append(event)
            case .failure(let reason):
                malformed.append(MalformedEvent(index: index, reason: reason.text))
            }
        }
        if let damage = elements.damage {
            let tail = bytes[(elements.elements.last?.upperBound ?? 0)...]
            isEventFile = isEventFile || Self.mayHoldEvents(tail)
            malformed.append(MalformedEvent(index: elements.elements.count, reason: "is damaged at \(damage)"))
        }
        guard isEventFile else { return nil }
        self.elements = elements
        self.events = events
        self.malformed = malformed
    }

    /// Whether bytes that are no JSON may be what is left of an event: they have a name that only events have.
    private static func mayHoldEvents(_ tail: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: tail.prefix(64 << 10), as: UTF8.self)
        return text.contains("\"id\"")
            && (text.contains("\"createdAt\"") || text.contains("\"eventType\"") || text.contains("\"photoData\""))
    }
}

extension JSONObject {
    fileprivate var looksLikeEvent: Bool {
        let names = Set(members.map(\.name))
        return names.contains("id") && !names.isDisjoint(with: ["createdAt", "eventType", "photoData"])
    }
}
