package import SystemPackage

/// What a file of gallery events holds, without its texts.
package struct GalleryEventFile: Hashable, Sendable {
    /// Bytes. Larger files are not read.
    package static let maximumSize: Int64 = 256 << 20

    /// Where it is about the file, ranges are of its text in UTF-8 (``JSONFileText``).
    package let elements: JSONElements
    /// In the order of the file. An id may be there twice.
    package let events: [GalleryEvent]
    /// What is no event, and, when the file is damaged, its tail.
    package let malformed: [MalformedEvent]

    /// - Parameters:
    ///   - bytes: the whole file, in UTF-8.
    ///   - profile: of events that name none.
    ///   - name: of the file. Where it holds one event, which has no id, it is the id.
    /// - Returns: `nil` when this is no file of events: no element looks like one. An element does when it has an id and a
    ///   time, type or photo, whatever they are; or a time, and a type or photo.
    package init?(_ bytes: [UInt8], profile: String?, name: FilePath.Component? = nil) {
        let elements = JSONElements(of: bytes, likeness: \.likenessToEvent)
        let reader = GalleryEventReader(profile: profile)
        var events: [GalleryEvent] = []
        var malformed: [MalformedEvent] = []
        var isEventFile = false
        for (index, range) in elements.elements.enumerated() {
            let object = JSONObject(bytes, at: range)
            isEventFile = isEventFile || object.map { $0.likenessToEvent != .none } ?? false
            let outerID: GalleryEventReader.OuterID? =
                if let key = elements.name(of: index) {
                    .key(JSONObject.text(Array(bytes[key]), isCutOff: false))
                } else if elements.isOneObject, let stem = name?.stem {
                    .fileName(stem)
                } else {
                    nil
                }
            switch reader.read(object, in: bytes, index: index, outerID: outerID) {
            case .success(let event): events.append(event)
            case .failure(let flaw):
                let holdsPhoto = flaw.isAboutPhotos || ImageTrace.isIn(bytes, range, except: nil)
                malformed.append(MalformedEvent(index: index, reason: flaw.text, holdsPhoto: holdsPhoto))
            }
        }
        let tail = (elements.elements.last?.upperBound ?? 0)..<bytes.count
        if elements.damage != nil { isEventFile = isEventFile || Self.mayHoldEvents(bytes[tail]) }
        guard isEventFile else { return nil }
        if let damage = elements.damage {
            malformed.append(
                MalformedEvent(
                    index: elements.elements.count, reason: "is damaged at \(damage)",
                    holdsPhoto: ImageTrace.isIn(damaged: bytes, tail)))
        }
        self.elements = elements
        self.events = events
        self.malformed = malformed
    }

    /// - Parameter text: of the whole file. One that is damaged UTF-16 holds nothing that may be used.
    package init?(_ text: JSONFileText, profile: String?, name: FilePath.Component?) {
        guard let damage = text.damage else {
            self.init(text.bytes, profile: profile, name: name)
            return
        }
        guard GalleryEventFile(text.bytes, profile: profile, name: name) != nil else { return nil }
        self.init(damage: damage)
    }

    private init(damage: String) {
        elements = JSONElements(of: [])
        events = []
        malformed = [MalformedEvent(index: 0, reason: damage, holdsPhoto: true)]
    }

    /// Whether bytes that are no JSON may be what is left of an event: they have a name that only events have.
    private static func mayHoldEvents(_ tail: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: tail.prefix(64 << 10), as: UTF8.self)
        let isNamed = ["\"createdAt\"", "\"eventType\"", "\"photoData\"", "\"eventData\""].map(text.contains)
        return text.contains("\"id\"") && isNamed.contains(true) || isNamed.count { $0 } > 1
    }
}

extension JSONObject {
    /// Events have an id and a time, or one of them is outside of the element. What has both and nothing else that tells
    /// may also be a user or a profile, with events in it.
    var likenessToEvent: JSONLikeness {
        let names = Set(members.map(\.name.inBytes))
        let (hasID, hasTime) = (names.contains("id"), names.contains("createdAt"))
        let tells = !names.isDisjoint(with: ["eventType", "photoData", "eventData"])
        if tells, hasID || hasTime { return .certain }
        return hasID && hasTime ? .possible : .none
    }
}

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
