import SyncCore
import SyncDigest

extension StoreUnderTest {
    func aCopyIsEqual() async throws {
        let bytes = [UInt8].noise(100_000)
        let attributes = ObjectAttributes(contentType: "image/jpeg", metadata: ["width": "2048", "title": "Zürich 🏔"])
        // A source's key stands in a header, where other bytes are awkward than in a path.
        for name in ["photo.dat", "with space", "plus+plus", "per%41cent", "Zürich", "what?", "a&b=c"] {
            let source = try key(name)
            let target = try key("copies/\(name)")
            _ = try await store.put(ObjectBody(bytes), at: source, attributes: attributes, condition: .ifAbsent)
            try await store.copy(source, to: target, storageClass: .standard, condition: .ifAbsent)
            try require(try await store.bytes(of: target) == bytes, "the bytes of the copy of \(name) differ")
            let info = try await store.head(target)
            try requireEqual(info?.key, target, "key")
            try requireEqual(info?.size, 100_000, "size")
            try requireEqual(info?.md5, ContentDigest(of: bytes).md5, "MD5")
            if gaps.contains(.copiesChangeAttributes) {
                let own = info?.metadata.filter { attributes.metadata[$0.key] != nil }
                try requireEqual(own, attributes.metadata, "metadata of its own")
            } else {
                try requireEqual(info?.contentType, "image/jpeg", "content type")
                try requireEqual(info?.metadata, attributes.metadata, "metadata")
            }
            // What was copied is nobody's any more: the copy does not need it.
            try await store.delete(source)
            try require(try await store.bytes(of: target) == bytes, "the copy of \(name) went with its source")
        }
        let (source, target) = (try key("told"), try key("copies/told"))
        _ = try await store.put(ObjectBody(bytes), at: source, attributes: attributes, condition: .ifAbsent)
        try await store.copy(
            source, to: target, storageClass: .standard, metadata: ["width": "1"], condition: .ifAbsent)
        try require(try await store.bytes(of: target) == bytes, "the bytes of a copy with other metadata differ")
        if !gaps.contains(.copiesChangeAttributes) {
            let info = try await store.head(target)
            try requireEqual(info?.contentType, "image/jpeg", "content type beside other metadata")
            try requireEqual(info?.metadata, ["width": "1"], "metadata in place of the source's")
        }
        try await requireError(.notFound, from: "copy of nothing") {
            try await store.copy(key("nothing"), to: key("target"), storageClass: .standard, condition: .overwrite)
        }
        try requireEqual(try await store.head(key("target")), nil, "head of a copy of nothing")
    }

    func aCopyInPlaceChangesTheClass() async throws {
        let attributes = ObjectAttributes(contentType: "image/jpeg", metadata: ["width": "2048"])
        for storageClass in [StorageClass.deepArchive, .glacier, .glacierInstantRetrieval, .standardIA] {
            let key = try key("in place/\(storageClass)")
            _ = try await store.put(ObjectBody("a photo"), at: key, attributes: attributes, condition: .ifAbsent)
            if gaps.contains(.listsNoClasses) {
                // It may say what it likes of the object: what it lists is believed.
                try await requireError(.unsupported, from: "copy in place to \(storageClass)") {
                    try await store.copy(key, to: key, storageClass: storageClass, condition: .ifAbsent)
                }
                try requireEqual(try await text(at: key), "a photo", "text")
                continue
            }
            // Something is there, and that is what is meant.
            try await store.copy(key, to: key, storageClass: storageClass, condition: .ifAbsent)
            let info = try await store.head(key)
            try requireEqual(info?.storageClass, storageClass, "storage class")
            try requireEqual(info?.size, 7, "size")
            if !gaps.contains(.copiesChangeAttributes) {
                try requireEqual(info?.contentType, "image/jpeg", "content type")
                try requireEqual(info?.metadata, attributes.metadata, "metadata")
            }
            let listed = try await store.list(prefix: key.rawValue, after: nil, limit: 1).objects.first
            try requireEqual(listed?.storageClass, storageClass, "class in the list")
            if !storageClass.isArchive { try requireEqual(try await text(at: key), "a photo", "text") }
        }
        try await requireError(.notFound, from: "copy of nothing onto itself") {
            try await store.copy(key("nothing"), to: key("nothing"), storageClass: .standard, condition: .overwrite)
        }
    }

    func anArchivedObjectIsNotCopied() async throws {
        let source = try key("cold")
        let target = try key("warm")
        try await put("cold", at: source, storageClass: .deepArchive)
        if gaps.contains(.listsNoClasses) {
            // Nothing is archived there, whatever it says of the object.
            try requireEqual(try await store.head(source)?.size, 4, "size")
            return
        }
        try await requireError(.archived, from: "copy of an archived object") {
            try await store.copy(source, to: target, storageClass: .standard, condition: .ifAbsent)
        }
        try requireEqual(try await store.head(target), nil, "head of the copy")
        for storageClass in [StorageClass.standard, .glacier, .deepArchive] {
            try await requireError(.archived, from: "copy in place to \(storageClass)") {
                try await store.copy(source, to: source, storageClass: storageClass, condition: .overwrite)
            }
        }
        try await put("other", at: key("other"))
        try await requireError(.archived, from: "copy onto an archived object") {
            try await store.copy(key("other"), to: source, storageClass: .standard, condition: .overwrite)
        }
        let info = try await store.head(source)
        try requireEqual(info?.storageClass, .deepArchive, "storage class")
        try requireEqual(info?.size, 4, "size")
    }

    func aCopyIfAbsentRefusesWhatExists() async throws {
        let source = try key("source")
        let target = try key("target")
        try await put("new", at: source)
        try await put("old", at: target)
        try await requireError(.alreadyExists, from: "copy") {
            try await store.copy(source, to: target, storageClass: .standard, condition: .ifAbsent)
        }
        try requireEqual(try await text(at: target), "old", "text")
        try await store.copy(source, to: target, storageClass: .standard, condition: .overwrite)
        try requireEqual(try await text(at: target), "new", "text of what was overwritten")
    }
}
