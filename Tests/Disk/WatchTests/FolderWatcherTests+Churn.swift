import Glibc
import SyncCore
import SystemPackage
import Testing

@testable import SyncWatch

extension FolderWatcherTests {
    /// The seed is the argument that a failure shows.
    @Test(arguments: UInt64(1)...12)
    func `after random operations, hints and scans know exactly what is on the disk`(seed: UInt64) async throws {
        var churn = Churn(tree: tree, seed: seed)
        try await withWatcher([tree.root]) { watcher, log in
            var known = KnownFiles(root: tree.root)
            var hints = 0
            for round in 1...6 {
                // The hints are followed while the operations run.
                let last = tree.path("round-\(round).jpg")
                let before = churn
                async let running = before.ran(operations: 60, thenWriting: last)
                while !log.seen.contains(.file(last)) {
                    for hint in try await log.take() { try known.follow(hint) }
                }
                churn = try await running
                hints += log.seen.count
                log.forget()
            }
            let (files, folders) = try contents()
            #expect(known.files == files)
            // More than for the last file of each round, or nothing was tried.
            #expect(hints > 20)
            #expect(watcher.reports().first == WatchReport(root: tree.root, mode: .inotify, watches: folders))
        }
    }

    private func contents() throws -> (files: Set<String>, folders: Int) {
        var folders = 0
        try FileTreeScanner().scan(root: tree.root, from: tree.root) { _ in folders += 1 }
        return (try files(below: tree.root), folders)
    }
}

/// What a consumer knows that looks at the disk wherever a hint points.
private struct KnownFiles {
    let root: FilePath
    private(set) var files: Set<String> = []

    init(root: FilePath) {
        self.root = root
    }

    mutating func follow(_ hint: ChangeHint) throws {
        if case .others = hint { return }
        let path = try #require(RelativePath(hint.path, below: root)).filePath.string
        files = files.filter { !path.isEmpty && $0 != path && !$0.hasPrefix(path + "/") }
        switch hint {
        case .file(let file), .writing(let file), .gone(let file):
            if try FileTreeScanner().stamp(of: file) != nil { files.insert(path) }
        case .tree(let start):
            do {
                try FileTreeScanner().scan(root: root, from: start) { folder in
                    for file in folder.files { files.insert(folder.path.appending(file.name).string) }
                }
            } catch let error as ScanError where error.code == .missing {
                // Gone in the meantime; its own hint is on its way.
            }
        case .others: break
        }
    }
}

/// Random operations on a tree, the same for the same seed. Few names, so that they meet; operations that the system
/// refuses (a folder into itself, onto a full one) are left at that.
private struct Churn: Sendable {
    private static let names = ["a", "b", "c", "d", "x.jpg", "album.part", ".hidden"]
    private static let fileNames = ["1.jpg", "2.jpg", "3.jpg", "x.jpg", "4.jpg.part"]

    let tree: WatchedTree
    private let root: String
    private var state: UInt64

    init(tree: WatchedTree, seed: UInt64) {
        self.tree = tree
        root = tree.root.string
        state = seed
    }

    func ran(operations: Int, thenWriting last: FilePath) throws -> Churn {
        var copy = self
        for _ in 0..<operations { try copy.runOne() }
        try tree.write(last)
        return copy
    }

    private mutating func runOne() throws {
        let folder = anyFolder()
        let entry = folder + pick(Self.names)
        let file = folder + pick(Self.fileNames)
        switch next(below: 12) {
        case 0, 1, 2: _ = try? tree.write(file, String(repeating: "x", count: next(below: 100)))
        case 3: try? tree.remove(tree.path(file))
        case 4: try? tree.move(tree.path(file), to: tree.path(anyFolder() + pick(Self.fileNames)))
        case 5: try? tree.makeHardLink(anyFolder() + pick(Self.fileNames), to: tree.path(file))
        case 6, 7: _ = try? tree.makeFolder(entry)
        case 8:
            let deep = "\(entry)/\(pick(Self.names))"
            guard (try? tree.makeFolder("\(deep)/\(pick(Self.names))")) != nil else { return }
            _ = try? tree.write("\(deep)/\(pick(Self.fileNames))")
            _ = try? tree.write("\(entry)/\(pick(Self.fileNames))")
        case 9: try? tree.move(tree.path(entry), to: tree.path(anyFolder() + pick(Self.names)))
        case 10: try? tree.move(tree.path(entry), to: tree.outside.appending(pick(Self.names)))
        default:
            if next(below: 3) == 0 {
                try? tree.remove(tree.path(entry))
            } else {
                try? tree.move(tree.outside.appending(pick(Self.names)), to: tree.path(entry))
            }
        }
    }

    /// A folder of the tree, relative to its root, with a `/` at the end unless it is the root; at most four levels
    /// down, so that paths meet.
    private mutating func anyFolder() -> String {
        var folder = ""
        for _ in 0..<4 {
            guard next(below: 3) > 0 else { break }
            let names = Self.names.filter { access("\(root)/\(folder)\($0)/.", F_OK) == 0 }
            guard !names.isEmpty else { break }
            folder += pick(names) + "/"
        }
        return folder
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[next(below: elements.count)]
    }

    /// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
    private mutating func next(below bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }
}
