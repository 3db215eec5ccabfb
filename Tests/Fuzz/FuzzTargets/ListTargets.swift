import FoundationEssentials

@testable import SyncCore

/// Readers of files that other apps write, and that are written anew without a part of them.
enum ListTargets {
    /// Without some of its events, a file has all the others as they were, byte for byte.
    static func events(_ file: [UInt8]) -> Bool {
        let text = JSONFileText(file)
        if text.damage == nil { promise(text.encoded(text.bytes) == file, "a file changes when it is written") }
        guard let events = GalleryEventFile(text, profile: "p", name: nil), text.damage == nil else { return false }
        requireUsable(events, text.bytes)
        if !events.elements.isEmpty(without: []) {
            promise(
                events.cut(text.bytes, removing: [], reducing: []) == text.bytes, "nothing goes, and a file changes")
        }
        guard events.elements.damage == nil, !events.events.isEmpty else { return false }
        var choice = Choice(file)
        let chosen = events.events.filter { _ in choice.number(below: 2) == 0 }
        let removed = Set(chosen.filter { _ in choice.number(below: 2) == 0 }.map(\.index))
        let reduced = Set(chosen.map(\.index)).subtracting(removed)
        guard let left = events.cut(text.bytes, removing: removed, reducing: reduced) else {
            promise(removed.count == events.elements.elements.count, "a file goes though not all of it goes")
            return true
        }
        require(left, of: events, in: text.bytes, removed, reduced)
        return true
    }

    private static func requireUsable(_ file: GalleryEventFile, _ bytes: [UInt8]) {
        for event in file.events {
            promise((try? ObjectKey(segments: [event.id])) != nil, "an id is no segment of a key")
            if case .inline(let range) = event.photo {
                promise(range.upperBound <= bytes.count, "a photo stands behind the file")
                promise(Base64Text(bytes[range]).isValid, "a photo is no base64")
            }
        }
        for flaw in file.malformed { promise(flaw.description.utf8.count < 200, "a flaw is as long as its text") }
    }

    private static func require(
        _ left: [UInt8], of file: GalleryEventFile, in bytes: [UInt8], _ removed: Set<Int>, _ reduced: Set<Int>
    ) {
        let again = JSONElements(of: left, likeness: \.likenessToEvent)
        promise(again.damage == nil, "a file is damaged by the cut, at \(again.damage?.description ?? "")")
        // An element that looks like an event by what went of it may be looked for in another place.
        let kept = file.elements.elements.indices.filter { !removed.contains($0) }
        var rest = left[...]
        for index in kept where !reduced.contains(index) {
            let element = bytes[file.elements.elements[index]]
            guard let found = rest.firstRange(of: Array(element)) else {
                promise(false, "an event that is kept is not as it was")
                return
            }
            rest = rest[found.upperBound...]
        }
    }

    /// Without some of its records, the list has all the others.
    static func projects(_ bytes: [UInt8]) -> Bool {
        guard let list = try? ProjectList(bytes) else { return false }
        promise(list.records.allSatisfy { ProjectFileName.isUsable(id: $0.id) }, "an id is no name of a file")
        promise(
            list.problems.allSatisfy { $0.description.unicodeScalars.allSatisfy(ShareTargets.isPlain) },
            "the cursor moves")
        let ids = list.records.map(\.id.inBytes)
        promise(Set(ids).count == ids.count, "two records have one id")
        promise(list.text.removing([]) == bytes, "a list changes though nothing goes")
        guard !ids.isEmpty else { return true }
        var choice = Choice(bytes)
        let removed = Set(ids.filter { _ in choice.number(below: 2) == 0 })
        guard let left = list.removing(removed) else {
            promise(removed.isEmpty, "a record does not go")
            return true
        }
        guard let again = try? ProjectList(left) else {
            promise(false, "a list is damaged by the cut")
            return true
        }
        promise(again.records == list.records.filter { !removed.contains($0.id.inBytes) }, "other records change")
        return true
    }

    /// What is told of a vacation is read as it is written.
    static func vacation(_ bytes: [UInt8]) -> Bool {
        let description = VacationDescription(parsing: bytes)
        for text in [description.locationName, description.sharedBy].compactMap(\.self) {
            promise(!text.isEmpty && text.count <= 200, "a name has no measure")
        }
        _ = VacationName(String(decoding: bytes, as: UTF8.self))
        guard let manifest = try? VacationManifest(parsing: bytes) else {
            return description.problems.isEmpty
        }
        guard let written = try? manifest.encoded(), let again = try? VacationManifest(parsing: written) else {
            promise(false, "a manifest is not read as it is written")
            return true
        }
        // Times are written in whole seconds.
        promise((try? again.encoded()) == written, "a manifest changes when it is written")
        promise(again.isEquivalent(to: manifest), "another manifest is written")
        return true
    }
}
