import SyncCore

extension StoreUnderTest {
    static let awkwardNames = [
        " leading", "with space", "trailing ", "plus+plus", "per%cent", "%41", "%2F", "tilde~", "~", "hash#", "what?",
        "a&b=c", "semi;colon", "quote'\"", "<tag>", "at@", "co:lon", "comma,", "dollar$", "back`tick", "pi|pe",
        "[brackets]", "{braces}", "caret^", ".hidden", "...", "trailing.", "Zürich", "Zu\u{308}rich", "東京/塔.jpg",
        "🏔", "\u{200B}invisible", "CAPS", "caps", "a.json", "a.json/b", "a~.json", "con",
    ]

    static let nestedNames = ["a", "a/b", "a/b/c", "a/b/c/d", "a-b", "a.b", "a0", "ab", "a.json", "a~", "a~/b", "a%"]

    /// Each name is stored with a text of its own, and all are there at the end, in byte order.
    func keysAreKeys(_ names: [String], pageLimit: Int = 5) async throws {
        for name in names { try await put("text of \(name)", at: key(name)) }
        for name in names { try requireEqual(try await text(at: key(name)), "text of \(name)", "text of \(name)") }
        let expected = try names.map { try key($0) }.sorted().map(\.rawValue)
        try requireSame(try await store.keys(prefix: prefix + "/", pageLimit: pageLimit), expected)
        // Every other one goes; what begins with it stays.
        for index in stride(from: 0, to: names.count, by: 2) { try await store.delete(key(names[index])) }
        let left = try stride(from: 1, to: names.count, by: 2).map { try key(names[$0]) }.sorted().map(\.rawValue)
        try requireSame(try await store.keys(prefix: prefix + "/"), left)
        for index in stride(from: 1, to: names.count, by: 2) { try await store.delete(key(names[index])) }
        try requireSame(try await store.keys(prefix: prefix + "/"), [])
    }

    func keysOfOneThousandBytesAreKeys() async throws {
        let room = 1_000 - prefix.utf8.count - 1
        var names = [
            String(repeating: "x", count: room), String(repeating: "x", count: room - 1) + "y",
            String(repeating: "ü", count: room / 2), String(repeating: "%", count: room),
            String(repeating: "x", count: room - 2) + "/y",
        ]
        // Around the lengths at which a file system's names end.
        names += [79, 80, 81, 160, 255, 256].flatMap { length in
            let stem = String(repeating: "n", count: length)
            return [stem, stem + "/b", stem + "0", stem + "-"]
        }
        if gaps.contains(.keysArePaths) { names.removeAll { $0.contains("/") } }
        guard gaps.contains(.shortNames) else { return try await keysAreKeys(names, pageLimit: 20) }
        let isLong = { (name: String) in name.split(separator: "/").contains { $0.utf8.count > 255 } }
        try await keysAreKeys(names.filter { !isLong($0) }, pageLimit: 20)
        for name in names where isLong(name) { try await requireNoPut(at: name) }
    }

    func awkwardKeysAreKeys() async throws {
        let nested = gaps.contains(.keysArePaths) ? "a.json/b" : nil
        try await keysAreKeys(Self.awkwardNames.filter { $0 != nested })
    }

    func aKeyMayBeginWithAnother() async throws {
        guard gaps.contains(.keysArePaths) else { return try await keysAreKeys(Self.nestedNames) }
        try await keysAreKeys(Self.nestedNames.filter { !$0.contains("/") })
        try await put("text of a", at: key("a"))
        try await requireNoPut(at: "a/b")
        try requireEqual(try await text(at: key("a")), "text of a", "text of a")
        try requireSame(try await store.keys(prefix: prefix + "/"), ["\(prefix)/a"])
    }

    /// The store says no, by an error of its own, and nothing is there afterwards.
    private func requireNoPut(at name: String) async throws {
        let key = try key(name)
        do {
            try await put("refused", at: key)
        } catch is StoreError {
            try requireEqual(try await store.head(key), nil, "head of \(name)")
            return
        }
        throw ContractViolation(description: "\(name) was stored")
    }

    func listsArePagedInByteOrder() async throws {
        let names = (0..<25).map { "page/\($0)" }
        for name in names { try await put(name, at: key(name)) }
        try await put("x", at: key("pager"))
        let expected = try names.map { try key($0) }.sorted().map(\.rawValue)
        var keys: [String] = []
        var sizes: [Int] = []
        var token: PageToken?
        repeat {
            let page = try await store.list(prefix: prefix + "/page/", after: token, limit: 7)
            keys += page.objects.map(\.key.rawValue)
            sizes.append(page.objects.count)
            token = page.next
        } while token != nil
        try requireSame(keys, expected)
        try requireEqual(sizes, [7, 7, 7, 4], "sizes of the pages")

        // A page that ends with the last key is the last page.
        let exact = try await store.list(prefix: prefix + "/page/", after: nil, limit: 25)
        try requireEqual(exact.next, nil, "token after the last key")
    }

    func aPrefixIsNoFolder() async throws {
        let names = ["photos/ab1", "photos/ab2", "photos/abc/d", "photos/b", "photosets/x", "photo"]
        for name in names { try await put(name, at: key(name)) }
        let table: [(prefix: String, names: [String])] = [
            ("", ["photo", "photos/ab1", "photos/ab2", "photos/abc/d", "photos/b", "photosets/x"]),
            ("photos/ab", ["photos/ab1", "photos/ab2", "photos/abc/d"]), ("photos/ab1", ["photos/ab1"]),
            ("photos/", ["photos/ab1", "photos/ab2", "photos/abc/d", "photos/b"]), ("photos/abc/", ["photos/abc/d"]),
            ("photos", ["photos/ab1", "photos/ab2", "photos/abc/d", "photos/b", "photosets/x"]), ("photos/ab11", []),
            ("photos/zz/yy", []), ("photos/ab1/", []),
        ]
        for row in table {
            let found = try await store.keys(prefix: "\(prefix)/\(row.prefix)", pageLimit: 2)
            try requireSame(found, row.names.map { "\(prefix)/\($0)" })
        }
    }

    func aListTellsSizesAndClasses() async throws {
        try await put("four", at: key("a"))
        try await put("seven..", at: key("b"), storageClass: .deepArchive)
        try await put("", at: key("c"), storageClass: .standardIA)
        let objects = try await store.list(prefix: prefix + "/", after: nil, limit: 1_000).objects
        try requireEqual(objects.map(\.size), [4, 7, 0], "sizes")
        let classes: [StorageClass] =
            gaps.contains(.listsNoClasses)
            ? [.standard, .standard, .standard] : [.standard, .deepArchive, .standardIA]
        try requireEqual(objects.map(\.storageClass), classes, "classes")
        try require(objects.allSatisfy { $0.modified != nil }, "a modification time is missing")
    }

    func listsSeeEveryPutAndDelete() async throws {
        for number in 0..<10 { try await put("x", at: key("n\(number)")) }
        let first = try await store.list(prefix: prefix + "/", after: nil, limit: 3)
        try requireSame(first.objects.map(\.key.rawValue), try (0..<3).map { try key("n\($0)").rawValue })
        try await store.delete(key("n4"))
        try await put("x", at: key("n5x"))
        let second = try await store.list(prefix: prefix + "/", after: first.next, limit: 4)
        try requireSame(
            second.objects.map(\.key.rawValue), try ["n3", "n5", "n5x", "n6"].map { try key($0).rawValue })
    }

    func requireSame(_ found: [String], _ expected: [String]) throws {
        // By bytes: Swift takes NFC and NFD for the same text.
        guard found.map({ Array($0.utf8) }) != expected.map({ Array($0.utf8) }) else { return }
        throw ContractViolation(description: "keys: expected \(expected), found \(found)")
    }
}
