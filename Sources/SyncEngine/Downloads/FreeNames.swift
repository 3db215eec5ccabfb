/// Gives things of equal names names of their own: the first one keeps it, the others are numbered from 2 on.
///
/// The last number of each name is kept: ten thousand of one name take ten thousand steps.
package struct FreeNames<Name: Hashable & Sendable>: Sendable {
    private var taken: Set<Name> = []
    private var last: [Name: Int] = [:]

    package init() {}

    package func contains(_ name: Name) -> Bool { taken.contains(name) }

    /// - Parameter numbered: the name with a number.
    /// - Returns: a name that nothing had, and that nothing gets again.
    package mutating func take(_ name: Name, numbered: (Int) -> Name) -> Name {
        if taken.insert(name).inserted { return name }
        var (number, free) = (last[name] ?? 1, name)
        repeat {
            number += 1
            free = numbered(number)
        } while !taken.insert(free).inserted
        last[name] = number
        return free
    }
}
