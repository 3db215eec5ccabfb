package import SystemPackage

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
