import SyncCore
import SyncDigest

extension StoreUnderTest {
    func bytesAndAttributesComeBack() async throws {
        let key = try key("photos/d41d8cd98f00b204e9800998ecf8427e.dat")
        let bytes = [UInt8].noise(100_000)
        let attributes = ObjectAttributes(contentType: "image/jpeg", metadata: ["width": "2048", "height": "1365"])
        let receipt = try await store.put(ObjectBody(bytes), at: key, attributes: attributes, condition: .ifAbsent)
        let digest = ContentDigest(of: bytes)
        try requireEqual(receipt.md5, digest.md5, "MD5 of the receipt")

        let head = try await store.head(key)
        let sink = ByteSink()
        let got = try await store.get(key, range: nil) { sink.append($0) }
        try requireEqual(sink.bytes.count, bytes.count, "bytes read")
        try require(sink.bytes == bytes, "the bytes read differ")
        for info in [head, got] {
            try requireEqual(info?.key, key, "key")
            try requireEqual(info?.size, 100_000, "size")
            try requireEqual(info?.md5, digest.md5, "MD5")
            try requireEqual(info?.sha256, gaps.contains(.provesNoSHA256) ? nil : digest.sha256, "SHA-256")
            try requireEqual(info?.contentType, "image/jpeg", "content type")
            try requireEqual(info?.metadata, attributes.metadata, "metadata")
            try requireEqual(info?.storageClass, .standard, "storage class")
            try requireEqual(info?.restore, RestoreState.none, "restore state")
            try require(info?.modified != nil, "no modification time")
        }
    }

    func awkwardMetadataComesBack() async throws {
        let key = try key("metadata.dat")
        let metadata = [
            "unicode": "Zürich – 東京 🏔", "percent": "100% %41 %zz", "empty": "", "spaces": " two  spaces ",
            "signs": "a+b=c;d,\"e\"\\", "task-title": "=?utf-8?q?no?=", "newline": "a\nb",
        ]
        let attributes = ObjectAttributes(contentType: "text/plain; charset=utf-8", metadata: metadata)
        _ = try await store.put(ObjectBody("x"), at: key, attributes: attributes, condition: .overwrite)
        let info = try await store.head(key)
        try requireEqual(info?.metadata, metadata, "metadata")
        try requireEqual(info?.contentType, "text/plain; charset=utf-8", "content type")
    }

    func comesBack(_ bytes: [UInt8], _ name: String) async throws {
        let key = try key(name)
        try await store.store(bytes, at: key)
        try requireEqual(try await store.head(key)?.size, Int64(bytes.count), "size")
        try require(try await store.bytes(of: key) == bytes, "the bytes read differ")
    }

    func headOfNothingIsNil() async throws {
        try requireEqual(try await store.head(key("nothing")), nil, "head of nothing")
        try await put("x", at: key("something/below"))
        try requireEqual(try await store.head(key("something")), nil, "head of a part of a key")
    }

    func getOfNothingThrowsNotFound() async throws {
        try await requireError(.notFound, from: "get of nothing") { _ = try await store.bytes(of: key("nothing")) }
        try await requireError(.notFound, from: "get of a part of nothing") {
            _ = try await store.bytes(of: key("nothing"), range: 0..<1)
        }
    }

    func deletingTwiceIsNoError() async throws {
        let key = try key("deleted")
        try await put("x", at: key)
        try await store.delete(key)
        try await store.delete(key)
        try requireEqual(try await store.head(key), nil, "head of a deleted object")
        try await requireError(.notFound, from: "get of a deleted object") { _ = try await store.bytes(of: key) }
        try requireEqual(try await store.keys(prefix: prefix + "/"), [], "keys")
    }

    func aDeletedKeyCanBeUsedAgain() async throws {
        let key = try key("again")
        try await put("first", at: key)
        try await store.delete(key)
        try await put("second", at: key, .ifAbsent)
        try requireEqual(try await text(at: key), "second", "text")
    }

    func overwriteReplacesBytesAndAttributes() async throws {
        let key = try key("projects.json")
        let first = ObjectAttributes(contentType: "text/plain", metadata: ["a": "1", "b": "2"])
        _ = try await store.put(ObjectBody("a longer first text"), at: key, attributes: first, condition: .overwrite)
        for round in 2...5 {
            let next = ObjectAttributes(contentType: "application/json", metadata: ["b": "\(round)"])
            _ = try await store.put(ObjectBody("text \(round)"), at: key, attributes: next, condition: .overwrite)
            try requireEqual(try await text(at: key), "text \(round)", "text")
            let info = try await store.head(key)
            try requireEqual(info?.contentType, "application/json", "content type")
            try requireEqual(info?.metadata, ["b": "\(round)"], "metadata")
        }
        try requireEqual(try await store.keys(prefix: prefix + "/"), [key.rawValue], "keys")
    }

    func ifAbsentRefusesWhatExists() async throws {
        let key = try key("once")
        try await put("first", at: key, .ifAbsent)
        try await requireError(.alreadyExists, from: "second put") { try await put("second", at: key, .ifAbsent) }
        try requireEqual(try await text(at: key), "first", "text")
    }

    func oneOfEightRacingPutsWins() async throws {
        let key = try key("race")
        let winners = try await withThrowingTaskGroup(of: Int?.self) { group in
            for number in 0..<8 {
                group.addTask {
                    do {
                        try await put("text of \(number)", at: key, .ifAbsent)
                        return number
                    } catch let error as StoreError where error.code == .alreadyExists || error.code == .conflict {
                        return nil
                    } catch let error as StoreError where gaps.contains(.losesRaces) && error.isTransient {
                        // rclone's file system refuses one of two renames to the same name now and then.
                        return nil
                    }
                }
            }
            return try await group.reduce(into: []) { winners, number in
                if let number { winners.append(number) }
            }
        }
        if gaps.contains(.losesRaces) {
            // Whoever proves what it has stored sees the loss, and puts it again.
            let isThere = try await store.head(key) != nil
            if !isThere { try await put("text of \(winners.first ?? 0)", at: key, .ifAbsent) }
            let text = try await text(at: key)
            try require(
                isThere ? winners.contains { "text of \($0)" == text } : text == "text of \(winners.first ?? 0)",
                "\(text) is not of \(winners), which won")
            return
        }
        if gaps.contains(.looksBeforeItPuts) {
            let text = try await text(at: key)
            try require(winners.contains { "text of \($0)" == text }, "\(text) is not of \(winners), which won")
            try await requireError(.alreadyExists, from: "a put after the race") {
                try await put("late", at: key, .ifAbsent)
            }
            return
        }
        try requireEqual(winners.count, 1, "puts that won")
        try requireEqual(try await text(at: key), "text of \(winners[0])", "text")
    }

    func anArchivedObjectIsNotOverwritten() async throws {
        for storageClass in [StorageClass.deepArchive, .glacier] {
            let key = try key("archived/\(storageClass)")
            try await put("first", at: key, storageClass: storageClass)
            try await requireError(.archived, from: "overwriting") { try await put("second", at: key, .overwrite) }
            try await requireError(.alreadyExists, .archived, from: "putting if absent") {
                try await put("second", at: key, .ifAbsent)
            }
            let info = try await store.head(key)
            try requireEqual(info?.storageClass, storageClass, "storage class")
            try requireEqual(info?.size, 5, "size")
        }
        // Readable at once, hence no archive in this sense.
        let key = try key("instant")
        try await put("first", at: key, storageClass: .glacierInstantRetrieval)
        try await put("second", at: key, .overwrite)
        try requireEqual(try await text(at: key), "second", "text")
    }

    func anArchivedObjectIsNotRead() async throws {
        let key = try key("archived.dat")
        try await put("cold", at: key, storageClass: .deepArchive)
        if gaps.contains(.readsArchived) {
            try requireEqual(try await text(at: key), "cold", "text")
        } else {
            try await requireError(.archived, from: "get") { _ = try await store.bytes(of: key) }
            try await requireError(.archived, from: "get of a range") {
                _ = try await store.bytes(of: key, range: 0..<1)
            }
        }
        try requireEqual(try await store.head(key)?.restore, RestoreState.none, "restore state")
        try await store.delete(key)
        try requireEqual(try await store.head(key), nil, "head of a deleted archived object")
    }
}
