package import SystemPackage

/// One configured root.
package struct WatchedFolder: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case gallery, vacations, projects
    }

    package var kind: Kind
    /// Absolute and lexically normalised; the folder itself may be a symbolic link.
    package var path: FilePath
    /// Whose gallery it is.
    package var profile: String?
    /// What of it is left out.
    package var filter: PathFilter

    package init(kind: Kind, path: FilePath, profile: String? = nil, filter: PathFilter = PathFilter()) {
        self.kind = kind
        self.path = path
        self.profile = profile
        self.filter = filter
    }
}

/// Names that are never photos: what editors, browsers and copy programs leave behind while they work.
package enum IgnoredNames {
    private static let suffixes = [".tmp", ".part", ".partial", ".crdownload", ".download", ".swp", "~"]
    /// What devices and desktops make of photos that stand elsewhere, and what was thrown away.
    private static let byproducts: Set<String> = [
        "@eadir", "thumbs.db", ".thumbnails", ".@__thumb", ".trash", ".trashes",
        ".stfolder", ".stversions", ".sync", ".appledouble", ".spotlight-v100", ".fseventsd", ".snapshot", ".snapshots",
        ".zfs",
    ]
    /// Folders of NAS devices and file systems (Synology, QNAP, Windows, ext4) that hold what was thrown away, and copies of
    /// all that is beside them. A file of such a name is one as any other.
    private static let systemFolders: Set<String> = [
        "#recycle", "#snapshot", "@recycle", "@recently-snapshot", "@tmp", "lost+found", "$recycle.bin",
        "system volume information",
    ]
    /// With the number of a user behind it (freedesktop.org, "Trash specification").
    private static let trash = ".trash-"

    /// All of them as one text: what was concluded by others holds no longer.
    package static let rules = [suffixes, byproducts.sorted(), systemFolders.sorted(), [trash]]
        .map { $0.joined(separator: "/") }.joined(separator: "//")

    /// Whether a file or folder of this name is left out. A name is one path component, as the directory holds it.
    package static func contains(_ name: some StringProtocol) -> Bool {
        if name.utf8.first == UInt8(ascii: ".") || name.utf8.first == UInt8(ascii: "~") { return true }
        let lowered = name.lowercased()
        return suffixes.contains { lowered.hasSuffix($0) } || byproducts.contains(lowered)
    }

    /// Whether a folder of this name is not looked into.
    package static func containsFolder(_ name: some StringProtocol) -> Bool {
        contains(name) || systemFolders.contains(name.lowercased())
    }

    /// Whether nobody misses what is under an ignored name: previews that devices make, the trash.
    package static func areByproducts(_ name: some StringProtocol) -> Bool {
        let lowered = name.lowercased()
        return byproducts.contains(lowered) || lowered.hasPrefix(trash) || systemFolders.contains(lowered)
    }
}

/// Which files of a folder are left out: rules as those of `rclone --filter`, in order. The first one that matches a file
/// decides; a file that none matches is stored.
///
/// A rule is `- PATTERN` (left out) or `+ PATTERN` (stored). In a pattern, `*` is any text without `/`, `**` any text, `?`
/// one character but `/`, `[a-z]` one of these, `[!a-z]` one but these, `{a,b}` either; `\` takes the meaning of the next
/// character away. A pattern that begins with `/` is about the path from the folder on, any other about the end of a path,
/// from a name's beginning. One that ends with `/` is about all below a folder. Capitals count.
///
/// Source: rclone documentation, "Filtering".
package struct PathFilter: Hashable, Sendable {
    /// A rule cannot be read; the reason, in words that say what to write.
    package struct Invalid: Error, Hashable, Sendable {
        package let reason: String
    }

    private enum Token: Hashable, Sendable {
        case scalar(Unicode.Scalar)
        case oneOf([ClosedRange<Unicode.Scalar>], isNegated: Bool)
        /// One but `/`.
        case one
        /// Any number but `/`.
        case some
        case all

        func takes(_ scalar: Unicode.Scalar) -> Bool {
            switch self {
            case .scalar(let own): own == scalar
            case .oneOf(let ranges, let isNegated):
                scalar != "/" && ranges.contains { $0.contains(scalar) } != isNegated
            case .one, .some: scalar != "/"
            case .all: true
            }
        }

        var mayRepeat: Bool { self == .some || self == .all }
    }

    private struct Rule: Hashable, Sendable {
        let excludes: Bool
        let isAnchored: Bool
        /// One of which has to match.
        let alternatives: [[Token]]
    }

    private static let mostAlternatives = 100

    /// The rules as they are written.
    package let lines: [String]
    private let rules: [Rule]

    /// Without rules, everything is stored.
    package init() {
        (lines, rules) = ([], [])
    }

    package init(_ lines: [String]) throws(Invalid) {
        var rules: [Rule] = []
        for line in lines { rules.append(try Self.rule(line)) }
        (self.lines, self.rules) = (lines, rules)
    }

    /// The rule that leaves a file out; `nil` for one that is stored.
    /// - Parameter path: of a file, below the folder.
    package func exclusion(of path: FilePath) -> String? {
        guard !rules.isEmpty else { return nil }
        let text = Array(path.text.unicodeScalars)
        guard let index = rules.firstIndex(where: { Self.matches($0, text) }), rules[index].excludes else { return nil }
        return lines[index]
    }

    // MARK: Matching

    private static func matches(_ rule: Rule, _ path: [Unicode.Scalar]) -> Bool {
        rule.alternatives.contains { matches($0, path, isAnchored: rule.isAnchored) }
    }

    /// All ways through the pattern at once, so that none takes longer than the product of both lengths.
    private static func matches(_ pattern: [Token], _ path: [Unicode.Scalar], isAnchored: Bool) -> Bool {
        var states = [Bool](repeating: false, count: pattern.count + 1)
        func enter(_ index: Int, _ states: inout [Bool]) {
            var index = index
            while !states[index] {
                states[index] = true
                guard index < pattern.count, pattern[index].mayRepeat else { return }
                index += 1
            }
        }
        enter(0, &states)
        for (position, scalar) in path.enumerated() {
            var next = [Bool](repeating: false, count: states.count)
            for index in pattern.indices where states[index] && pattern[index].takes(scalar) {
                enter(pattern[index].mayRepeat ? index : index + 1, &next)
            }
            if !isAnchored, scalar == "/", position + 1 < path.count { enter(0, &next) }
            states = next
        }
        return states[pattern.count]
    }

    // MARK: Reading

    private static func rule(_ line: String) throws(Invalid) -> Rule {
        guard !line.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw Invalid(reason: "a rule is one line, without control characters")
        }
        let excludes: Bool
        switch line.prefix(2) {
        case "- ": excludes = true
        case "+ ": excludes = false
        default: throw Invalid(reason: "a rule begins with \"- \" (left out) or \"+ \" (stored)")
        }
        var pattern = line.dropFirst(2)
        let isAnchored = pattern.first == "/"
        if isAnchored { pattern = pattern.dropFirst() }
        guard !pattern.isEmpty else { throw Invalid(reason: "the pattern of a rule is empty") }
        let whole = pattern.last == "/" ? pattern + "**" : pattern
        let alternatives = try alternatives(Array(whole.unicodeScalars))
        var tokens: [[Token]] = []
        for alternative in alternatives { tokens.append(try self.tokens(alternative)) }
        return Rule(excludes: excludes, isAnchored: isAnchored, alternatives: tokens)
    }

    /// The texts that braces stand for, with escapes and classes as they are written.
    private static func alternatives(_ text: [Unicode.Scalar]) throws(Invalid) -> [[Unicode.Scalar]] {
        var found: [[Unicode.Scalar]] = [[]]
        var index = 0
        func piece() throws(Invalid) -> [Unicode.Scalar] {
            var end = index + 1
            if text[index] == "\\" { end = min(index + 2, text.count) }
            if text[index] == "[" {
                if end < text.count, text[end] == "!" || text[end] == "^" { end += 1 }
                // A "]" that stands first is one of them.
                repeat {
                    end += end < text.count && text[end] == "\\" ? 2 : 1
                } while end < text.count && text[end] != "]"
                guard end < text.count else { throw Invalid(reason: "a \"[\" is not closed; write \"\\[\" for itself") }
                end += 1
            }
            defer { index = end }
            return Array(text[index..<end])
        }
        while index < text.count {
            guard text[index] == "{" else {
                let piece = try piece()
                for number in found.indices { found[number] += piece }
                continue
            }
            index += 1
            var choices: [[Unicode.Scalar]] = [[]]
            while index < text.count, text[index] != "}" {
                if text[index] == "{" { throw Invalid(reason: "braces stand inside braces") }
                if text[index] == "," {
                    choices.append([])
                    index += 1
                } else {
                    choices[choices.count - 1] += try piece()
                }
            }
            guard index < text.count else { throw Invalid(reason: "a \"{\" is not closed; write \"\\{\" for itself") }
            index += 1
            guard found.count * choices.count <= mostAlternatives else {
                throw Invalid(reason: "the braces of a rule stand for more than \(mostAlternatives) patterns")
            }
            found = found.flatMap { start in choices.map { start + $0 } }
        }
        return found
    }

    private static func tokens(_ text: [Unicode.Scalar]) throws(Invalid) -> [Token] {
        var tokens: [Token] = []
        var index = 0
        while index < text.count {
            let scalar = text[index]
            index += 1
            switch scalar {
            case "*":
                let start = index
                while index < text.count, text[index] == "*" { index += 1 }
                tokens.append(index > start ? .all : .some)
            case "?": tokens.append(.one)
            case "[": tokens.append(try set(text, &index))
            case "\\":
                guard index < text.count else {
                    throw Invalid(reason: "a \"\\\" ends a rule; write it twice for itself")
                }
                tokens.append(.scalar(text[index]))
                index += 1
            default: tokens.append(.scalar(scalar))
            }
        }
        return tokens
    }

    /// - Parameter index: behind the `[`; afterwards behind the `]`.
    private static func set(_ text: [Unicode.Scalar], _ index: inout Int) throws(Invalid) -> Token {
        let isNegated = text[index] == "!" || text[index] == "^"
        if isNegated { index += 1 }
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        var isFirst = true
        func next(_ index: inout Int) -> Unicode.Scalar {
            if text[index] == "\\", index + 1 < text.count { index += 1 }
            defer { index += 1 }
            return text[index]
        }
        while index < text.count, isFirst || text[index] != "]" {
            isFirst = false
            let low = next(&index)
            guard index + 1 < text.count, text[index] == "-", text[index + 1] != "]" else {
                ranges.append(low...low)
                continue
            }
            index += 1
            let high = next(&index)
            guard low <= high else { throw Invalid(reason: "a range in \"[…]\" goes backwards") }
            ranges.append(low...high)
        }
        guard index < text.count else { throw Invalid(reason: "a \"[\" is not closed; write \"\\[\" for itself") }
        index += 1
        return .oneOf(ranges, isNegated: isNegated)
    }
}

/// What is to be done with a file that was examined.
package enum UploadPlan: Hashable, Sendable {
    case store(PlannedUpload)
    /// It may hold gallery events: their photos are stored, and their text stays.
    case readEvents
    /// Not something that its folder stores.
    case skip(reason: String, LeftOut? = nil)
}

package struct PlannedUpload: Hashable, Sendable {
    package var key: ObjectKey
    package var condition: PutCondition
    /// What the bytes are; for a project's JSON the name decides, everything else is told by content.
    package var type: MediaType

    package init(key: ObjectKey, condition: PutCondition, type: MediaType) {
        self.key = key
        self.condition = condition
        self.type = type
    }
}

/// Decides where a file goes. No I/O.
///
/// Photos of galleries and vacations share one content-addressed pool, so that a photo is stored once however many names
/// it has. A project's files keep their names, and a newer version replaces the older one.
package struct UploadPlanner: Hashable, Sendable {
    package let keys: KeyLayout

    package init(keys: KeyLayout) {
        self.keys = keys
    }

    /// - Parameter relativePath: below the watched folder.
    /// - Throws: ``InvalidName`` when a project's file name cannot be an object key.
    package func plan(
        kind: WatchedFolder.Kind, relativePath: FilePath, examined: PhotoFacts
    ) throws(InvalidName) -> UploadPlan {
        switch kind {
        case .gallery where examined.type == .json:
            return .readEvents
        case .gallery, .vacations:
            guard examined.type.kind != .other else {
                let isNamedAsEvents = ["json", "jsonl", "ndjson"].contains(relativePath.extension?.lowercased())
                if kind == .gallery, isNamedAsEvents, examined.stamp.size > 0 {
                    return .skip(reason: "it may hold gallery events and cannot be read: it is no JSON", .unreadable)
                }
                return .skip(reason: "neither a photo nor a video; it stays on this machine")
            }
            return .store(try pooled(examined.id, examined.type))
        case .projects:
            let isJSON = relativePath.extension?.lowercased() == "json"
            let type = examined.type.kind == .other && isJSON ? MediaType.json : examined.type
            guard type.kind == .jpeg || type.kind == .image || type == .json else {
                return .skip(
                    reason: "a projects folder stores images and JSON only", type.kind == .video ? .unfit : nil)
            }
            return .store(
                PlannedUpload(key: try keys.projectFile(relativePath.string), condition: .overwrite, type: type))
        }
    }

    /// Where a photo goes that is no file of its own.
    package func pooled(_ id: PhotoID, _ type: MediaType) throws(InvalidName) -> PlannedUpload {
        PlannedUpload(key: try keys.photo(id), condition: .ifAbsent, type: type)
    }
}
