import FoundationEssentials
import SystemPackage

/// Why an element is no event. It quotes nothing of the file.
struct EventFlaw: Error {
    let text: String
}

/// Turns one element of a file into an event.
struct GalleryEventReader {
    /// What stays of an event whose text is deleted.
    static let bareNames: Set<String> = ["id", "userId", "profileId", "eventType", "createdAt"]
    /// Bytes of an id; with all that stands around it, a key has to stay below 1,024.
    private static let longestID = 200

    /// Of events that name none.
    let profile: String?

    func read(_ object: JSONObject?, in bytes: [UInt8], index: Int) -> Result<GalleryEvent, EventFlaw> {
        Result { () throws(EventFlaw) in
            guard let object else { throw EventFlaw(text: "is no object") }
            guard let id = try identifier("id", of: object) else { throw EventFlaw(text: "id is missing") }
            guard let profile = try identifier("profileId", of: object) ?? profile else {
                throw EventFlaw(text: "profileId is missing, and its folder has no profile")
            }
            return GalleryEvent(
                index: index, id: id, userID: try identifier("userId", of: object), profileID: profile,
                type: try type(of: object), createdAt: try createdAt(of: object),
                photo: try photo(of: object, in: bytes),
                isBare: object.members.allSatisfy { Self.bareNames.contains($0.name) })
        }
    }

    /// The value of a member; `nil` when it is missing or `null`.
    private func value(_ name: String, of object: JSONObject) throws(EventFlaw) -> Range<Int>? {
        let members = object.all(name)
        guard members.count < 2 else { throw EventFlaw(text: "\(name) is there twice") }
        return members.first.flatMap { object.isNull($0.value) ? nil : $0.value }
    }

    private func identifier(_ name: String, of object: JSONObject) throws(EventFlaw) -> String? {
        guard let value = try value(name, of: object) else { return nil }
        let number = object.number(value).flatMap { $0.utf8.allSatisfy(\.isDigit) ? $0 : nil }
        guard let text = object.string(value) ?? number else {
            throw EventFlaw(text: "\(name) is neither a text nor a whole number")
        }
        guard text.utf8.count <= Self.longestID else {
            throw EventFlaw(text: "\(name) is longer than \(Self.longestID) bytes")
        }
        do {
            _ = try ObjectKey(segments: ["gallery-archive", text])
        } catch {
            throw EventFlaw(text: text.isEmpty ? "\(name) is empty" : "\(name): \(error.reason)")
        }
        return text
    }

    private func type(of object: JSONObject) throws(EventFlaw) -> GalleryEventType {
        guard let value = try value("eventType", of: object) else { throw EventFlaw(text: "eventType is missing") }
        guard let type = object.string(value).flatMap(GalleryEventType.init(rawValue:)) else {
            throw EventFlaw(text: "eventType is no name of 1 to 64 letters and digits")
        }
        return type
    }

    private func createdAt(of object: JSONObject) throws(EventFlaw) -> Date {
        guard let value = try value("createdAt", of: object) else { throw EventFlaw(text: "createdAt is missing") }
        let time =
            object.string(value).flatMap(EventTime.init(text:)) ?? object.number(value).flatMap(EventTime.init(number:))
        guard let time else { throw EventFlaw(text: "createdAt is no moment from 2000 to 2099") }
        return time.date
    }

    private func photo(of object: JSONObject, in bytes: [UInt8]) throws(EventFlaw) -> GalleryEvent.Photo {
        guard let value = try value("photoData", of: object) else { return .none }
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
