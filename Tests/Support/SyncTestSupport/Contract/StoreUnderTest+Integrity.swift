import SyncCore
import SyncDigest

extension StoreUnderTest {
    func bytesWithAWrongDigestAreRefused() async throws {
        let key = try key("wrong")
        let body = ObjectBody(bytes: Array("these bytes".utf8), digest: ContentDigest(of: Array("others".utf8)))
        let attributes = ObjectAttributes(contentType: "text/plain")
        if gaps.contains(.storesWrongDigest) {
            do {
                let receipt = try await store.put(body, at: key, attributes: attributes, condition: .overwrite)
                try requireEqual(receipt.md5, ContentDigest(of: Array("these bytes".utf8)).md5, "MD5 of the receipt")
            } catch let error as StoreError {
                try requireEqual(error.code, .badDigest, "error code")
            }
            return
        }
        try await requireError(.badDigest, from: "put") {
            _ = try await store.put(body, at: key, attributes: attributes, condition: .overwrite)
        }
        try requireEqual(try await store.head(key), nil, "head")

        try await put("before", at: key)
        try await requireError(.badDigest, from: "overwriting put") {
            _ = try await store.put(body, at: key, attributes: attributes, condition: .overwrite)
        }
        try requireEqual(try await text(at: key), "before", "text")
    }

    func fileIsStored(_ bytes: [UInt8], _ name: String) async throws {
        let key = try key(name)
        try tree.write(bytes, to: name)
        let receipt = try await store.put(
            tree.body(name), at: key, attributes: ObjectAttributes(contentType: "image/jpeg"), condition: .ifAbsent)
        try requireEqual(receipt.md5, ContentDigest(of: bytes).md5, "MD5 of the receipt")
        try require(try await store.bytes(of: key) == bytes, "the bytes read differ")
    }

    func aPatchedFileIsStored() async throws {
        let key = try key("patched.mp4")
        var bytes = [UInt8].noise(700_001)
        try tree.write(bytes, to: "patched.mp4")
        let patches = FilePatches([
            FilePatches.Patch(0..<3, head: [1, 2]), FilePatches.Patch(200_000..<600_000),
            FilePatches.Patch(700_000..<700_001, head: [9]),
        ])
        bytes.withUnsafeMutableBytes { patches.apply(to: $0, at: 0) }
        let body = ObjectBody(
            file: tree.path("patched.mp4"), stamp: try tree.stamp("patched.mp4"), patches: patches,
            digest: ContentDigest(of: bytes))
        let attributes = ObjectAttributes(contentType: "video/mp4")
        let receipt = try await store.put(body, at: key, attributes: attributes, condition: .ifAbsent)
        try requireEqual(receipt.md5, ContentDigest(of: bytes).md5, "MD5 of the receipt")
        try require(try await store.bytes(of: key) == bytes, "the bytes read differ")
    }

    func aFileThatChangedIsRefused() async throws {
        let key = try key("changed.jpg")
        try tree.write("one text", to: "changed.jpg")
        let body = try tree.body("changed.jpg")
        // Same length, other bytes, another time.
        try tree.write("two text", to: "changed.jpg")
        try tree.age("changed.jpg", bySeconds: 100)
        try await requireRefused(body, at: key)
        try tree.write("one text and more", to: "changed.jpg")
        try await requireRefused(body, at: key)
    }

    func aFileThatIsGoneIsRefused() async throws {
        let gone = FileStamp(device: 1, inode: 1, size: 3, modified: 1)
        let body = ObjectBody(file: tree.path("gone.jpg"), stamp: gone, digest: ContentDigest(of: Array("abc".utf8)))
        try await requireRefused(body, at: key("gone.jpg"))
    }

    private func requireRefused(_ body: ObjectBody, at key: ObjectKey) async throws {
        try await requireError(.sourceChanged, from: "put") {
            _ = try await store.put(
                body, at: key, attributes: ObjectAttributes(contentType: "image/jpeg"), condition: .overwrite)
        }
        try requireEqual(try await store.head(key), nil, "head")
    }

    func aCancelledPutLeavesNothing() async throws {
        let key = try key("cancelled")
        let body = ObjectBody([UInt8].noise(1 << 20))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                // Cancelled before the put begins: there is no moment at which it might be too late.
                withUnsafeCurrentTask { $0?.cancel() }
                do {
                    _ = try await store.put(
                        body, at: key, attributes: ObjectAttributes(contentType: "image/jpeg"), condition: .overwrite)
                    return false
                } catch is CancellationError {
                    return true
                }
            }
            let wasCancelled = try await group.next()
            try require(wasCancelled == true, "a cancelled put returned normally")
        }
        try requireEqual(try await store.head(key), nil, "head")
        try requireEqual(try await store.keys(prefix: prefix + "/"), [], "keys")
    }

    func whatTheSinkThrowsEndsTheRead() async throws {
        struct Refusal: Error {}
        let key = try key("refused")
        try await put("text", at: key)
        do {
            _ = try await store.get(key, range: nil) { _ in throw Refusal() }
            throw ContractViolation(description: "the read ended normally")
        } catch is Refusal {}
        try requireEqual(try await text(at: key), "text", "text of the next read")
    }

    func rangesAreCutOutExactly() async throws {
        let key = try key("ranges")
        let bytes = [UInt8].noise(300_000)
        try await store.store(bytes, at: key)
        let ranges: [(asked: Range<Int64>, given: Range<Int>)] = [
            (0..<1, 0..<1), (0..<300_000, 0..<300_000), (5..<6, 5..<6), (299_999..<300_000, 299_999..<300_000),
            (299_990..<400_000, 299_990..<300_000), (0..<Int64.max, 0..<300_000),
            (100_000..<250_000, 100_000..<250_000),
        ]
        for range in ranges {
            let sink = ByteSink()
            let info = try await store.get(key, range: range.asked) { sink.append($0) }
            try require(sink.bytes == Array(bytes[range.given]), "wrong bytes for \(range.asked)")
            try requireEqual(info.size, 300_000, "size of the whole object")
        }
    }

    func aRangePastTheEndIsRefused() async throws {
        let key = try key("short")
        try await put("0123456789", at: key)
        for range in [10..<11, 1_000..<2_000] as [Range<Int64>] {
            try await requireError(.invalidRange, from: "get of \(range)") {
                _ = try await store.bytes(of: key, range: range)
            }
        }
        let empty = try self.key("empty")
        try await put("", at: empty)
        try await requireError(.invalidRange, from: "get of the first byte of an empty object") {
            _ = try await store.bytes(of: empty, range: 0..<1)
        }
    }
}
