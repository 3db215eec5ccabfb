import FoundationEssentials
import SystemPackage

/// Why an element is no event. It quotes nothing of the file.
struct EventFlaw: Error {
    let text: String
    /// Whether it has a photo that cannot be told, or more than can be kept.
    var isAboutPhotos = false
}

/// Turns one element of a file into an event.
///
/// The data of an event stands beside its id, or below `eventData`, as Swift writes an enumeration with associated values:
/// `{"eventData": {"taskResponse": {"_0": {"photoData": …}}}}`. A photo is a member `photoData`, however deep in objects.
struct GalleryEventReader {
    /// An id that stands outside of its element; the name is `nil` when it is no Unicode.
    enum OuterID {
        case key(String?)
        case fileName(String)
    }

    /// What stays of an event whose text is deleted.
    static let bareNames: Set<ByteString> = [
        "id", "userId", "profileId", "eventType", "createdAt",
    ]
    /// Bytes of an id; with all that stands around it, a key has to stay below 1,024.
    private static let longestID = 200

    /// Of events that name none.
    let profile: String?

    func read(
        _ object: JSONObject?, in bytes: [UInt8], index: Int, outerID: OuterID? = nil
    ) -> Result<GalleryEvent, EventFlaw> {
        Result { () throws(EventFlaw) in
            guard let object else { throw EventFlaw(text: "is no object") }
            let innerID = try identifier("id", of: object)
            let innerProfile = try identifier("profileId", of: object, for: .profile)
            var id = innerID
            if id == nil { id = try identifier(outerID) }
            guard let id else { throw EventFlaw(text: "id is missing") }
            guard let profile = innerProfile ?? profile else {
                throw EventFlaw(text: "profileId is missing, and its folder has no profile")
            }
            let (user, type, time) = (
                try identifier("userId", of: object, for: .metadata), try type(of: object), try createdAt(of: object)
            )
            let (photo, text) = try photo(of: object, in: bytes)
            guard !ImageTrace.isIn(bytes, object.range, except: text) else {
                throw EventFlaw(
                    text: "holds an image elsewhere than in photoData; it is left as it is", isAboutPhotos: true)
            }
            guard !holdsEvent(object, in: bytes) else {
                throw EventFlaw(text: "holds another event, which has a time of its own; it is left as it is")
            }
            return GalleryEvent(
                index: index, id: id, hasOuterID: object.all("id").allSatisfy { object.isNull($0.value) }, userID: user,
                profileID: profile, type: type, createdAt: time, photo: photo,
                isBare: object.members.allSatisfy { Self.bareNames.contains($0.name.inBytes) })
        }
    }

    /// Whether there is an event within an element, at any depth: cut with it, its text would go before its time.
    private func holdsEvent(_ object: JSONObject, in bytes: [UInt8]) -> Bool {
        object.members.contains { holdsEvent(at: $0.value, of: object, in: bytes) }
    }

    private func holdsEvent(at value: Range<Int>, of object: JSONObject, in bytes: [UInt8]) -> Bool {
        if let inner = object.object(value) {
            let isEvent = inner.members.count { ["id", "createdAt", "eventType"].contains($0.name.inBytes) } >= 3
            return isEvent || holdsEvent(inner, in: bytes)
        }
        guard bytes[value.lowerBound] == UInt8(ascii: "[") else { return false }
        return JSONScanner.items(of: bytes, at: value).contains { holdsEvent(at: $0, of: object, in: bytes) }
    }

    /// The value of a member; `nil` when it is missing or `null`.
    private func value(_ name: StaticString, of object: JSONObject) throws(EventFlaw) -> Range<Int>? {
        let members = object.all(name)
        guard members.count < 2 else { throw EventFlaw(text: "\(name) is there twice", isAboutPhotos: true) }
        return members.first.flatMap { object.isNull($0.value) ? nil : $0.value }
    }

    private func identifier(_ outer: OuterID?) throws(EventFlaw) -> String? {
        switch outer {
        case nil: return nil
        case .key(let key):
            guard let key else { throw EventFlaw(text: "the key over it, its id, is no text") }
            return try usable(key, as: "the key over it, its id,")
        case .fileName(let name): return try usable(name, as: "the name of its file, its id,")
        }
    }

    /// What becomes of an identifier.
    private enum Use {
        /// A part of a key, as it is.
        case key
        /// The same, but for what may be a telephone number, in which `/` is usual: whether that may stand in a key is
        /// asked when it is archived.
        case profile
        /// It comes to stand beside an object.
        case metadata
    }

    private func identifier(
        _ name: StaticString, of object: JSONObject, for use: Use = .key
    ) throws(EventFlaw) -> String? {
        guard let value = try value(name, of: object) else { return nil }
        let number = object.number(value).flatMap { $0.utf8.allSatisfy(\.isDigit) ? $0 : nil }
        guard let text = object.string(value) ?? number else {
            throw EventFlaw(text: "\(name) is neither a text nor a whole number")
        }
        return try usable(text, as: "\(name)", for: use)
    }

    private func usable(_ text: String, as name: String, for use: Use = .key) throws(EventFlaw) -> String {
        guard text.utf8.count <= Self.longestID else {
            throw EventFlaw(text: "\(name) is longer than \(Self.longestID) bytes")
        }
        do {
            let mayHaveSlash =
                switch use {
                case .key: false
                case .profile:
                    text.unicodeScalars.count { $0.properties.numericType != nil } >= ProfileText.fewestDigits
                case .metadata: true
                }
            let segment = mayHaveSlash ? text.replacing("/", with: "-") : text
            _ = try ObjectKey(segments: ["gallery-archive", segment])
        } catch {
            throw EventFlaw(text: text.isEmpty ? "\(name) is empty" : "\(name): \(error.reason)")
        }
        return text
    }

    private func type(of object: JSONObject) throws(EventFlaw) -> GalleryEventType {
        let name: String?
        if let value = try value("eventType", of: object) {
            name = object.string(value)
        } else {
            // Its only case tells.
            let data = try value("eventData", of: object).flatMap(object.object)
            guard let data, data.members.count == 1 else { throw EventFlaw(text: "eventType is missing") }
            name = data.members[0].name
        }
        guard let type = name.flatMap(GalleryEventType.init(rawValue:)) else {
            throw EventFlaw(text: "eventType is no name of 1 to 64 letters and digits")
        }
        return type
    }

    private func createdAt(of object: JSONObject) throws(EventFlaw) -> Date {
        guard let value = try value("createdAt", of: object) else { throw EventFlaw(text: "createdAt is missing") }
        let time =
            object.string(value).flatMap(EventTime.init(text:)) ?? object.number(value).flatMap(EventTime.init(number:))
            ?? object.object(value).flatMap(timestamp)
        guard let time else { throw EventFlaw(text: "createdAt is no moment from 2000 to 2099") }
        return time.date
    }

    /// As Firestore writes a moment: `{"_seconds": 1760948130, "_nanoseconds": 0}`, or without the `_`.
    private func timestamp(_ object: JSONObject) -> EventTime? {
        func number(_ name: StaticString) -> String? { object.all(name).first.flatMap { object.number($0.value) } }
        guard let seconds = number("_seconds") ?? number("seconds") else { return nil }
        return EventTime(seconds: seconds, nanoseconds: number("_nanoseconds") ?? number("nanoseconds") ?? "0")
    }

    // MARK: The photo

    /// - Returns: the photo, and the text that it was read from, within its quotes.
    private func photo(
        of object: JSONObject, in bytes: [UInt8]
    ) throws(EventFlaw) -> (GalleryEvent.Photo, text: Range<Int>?) {
        var found: (GalleryEvent.Photo, text: Range<Int>?) = (.none, nil)
        for (object, value) in try photoValues(of: object) {
            do throws(EventFlaw) {
                let photo = try photo(at: value, of: object, in: bytes)
                guard photo != .none else { continue }
                guard found.0 == .none else { throw EventFlaw(text: "has more than one photo; it is left as it is") }
                found = (photo, object.contents(value))
            } catch {
                throw EventFlaw(text: error.text, isAboutPhotos: true)
            }
        }
        return found
    }

    /// All members `photoData` of an object and of those in it.
    private func photoValues(of object: JSONObject) throws(EventFlaw) -> [(JSONObject, Range<Int>)] {
        var found = try value("photoData", of: object).map { [(object, $0)] } ?? []
        for member in object.members {
            if let inner = object.object(member.value) { found += try photoValues(of: inner) }
        }
        return found
    }

    private func photo(
        at value: Range<Int>, of object: JSONObject, in bytes: [UInt8]
    ) throws(EventFlaw) -> GalleryEvent.Photo {
        guard let contents = object.contents(value) else { throw EventFlaw(text: "photoData is no text") }
        if bytes[contents].elementsEqual("<null>".utf8) { return .none }
        if bytes[contents].prefix(5).elementsEqual("data:".utf8) {
            guard let data = dataURL(contents, in: bytes) else {
                throw EventFlaw(text: "photoData is a data URL without base64")
            }
            return .inline(data)
        }
        if Base64Text(bytes[contents]).isValid { return .inline(contents) }
        let text = (contents.count <= 4_096 ? object.string(value) : nil) ?? "?"
        if text.allSatisfy(\.isWhitespace) { return .none }
        guard let name = fileName(text) else {
            throw EventFlaw(text: "photoData is neither base64 nor the name of a photo beside the file")
        }
        return .beside(name)
    }

    /// The data of a data URL (RFC 2397) that says that it is base64; `nil` when it is none, or damaged.
    private func dataURL(_ contents: Range<Int>, in bytes: [UInt8]) -> Range<Int>? {
        guard let comma = bytes[contents].prefix(256).firstIndex(of: UInt8(ascii: ",")) else { return nil }
        let header = String(decoding: bytes[contents.lowerBound..<comma], as: UTF8.self).lowercased()
        let data = comma + 1..<contents.upperBound
        return header.hasSuffix(";base64") && Base64Text(bytes[data]).isValid ? data : nil
    }

    /// A text that can only be the name of a photo: anything else may be what somebody wrote.
    private func fileName(_ text: String) -> FilePath.Component? {
        guard text.utf8.count <= 255, !text.contains("/"), !IgnoredNames.contains(text),
            text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }),
            let component = FilePath.Component(text), component.kind == .regular,
            let ending = component.extension?.lowercased(), Self.photoEndings.contains(ending)
        else { return nil }
        return component
    }

    private static let photoEndings: Set<String> = [
        "jpg", "jpeg", "jpe", "jfif", "png", "gif", "webp", "heic", "heif", "hif", "avif", "tif", "tiff", "bmp",
    ]
}
