/// What is wrong with many things, of which there may be any number: the first thousand, and how many there are.
package struct ProblemList<Problem: Hashable & Sendable>: Hashable, Sendable {
    private static var mostNamed: Int { 1_000 }

    package private(set) var first: [Problem] = []
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// How many there are besides the first.
    package var unnamed: Int { count - first.count }

    package mutating func note(_ problem: Problem) {
        count += 1
        if first.count < Self.mostNamed { first.append(problem) }
    }

    package mutating func note(contentsOf problems: [Problem]) {
        for problem in problems { note(problem) }
    }

    package mutating func note(contentsOf others: ProblemList) {
        note(contentsOf: others.first)
        count += others.unnamed
    }
}
