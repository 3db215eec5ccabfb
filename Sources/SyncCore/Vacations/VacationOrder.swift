package import FoundationEssentials

/// The order in which a vacation's photos are seen: by capture time, then by the bytes of their names. Those of which no
/// capture time is known come after the others.
package struct VacationOrder: Comparable {
    private let takenAt: Date?
    private let name: String

    package init(takenAt: Date?, name: String) {
        self.takenAt = takenAt
        self.name = name
    }

    package static func < (left: VacationOrder, right: VacationOrder) -> Bool {
        switch (left.takenAt, right.takenAt) {
        case (let one?, let other?) where one != other: one < other
        case (.some, nil): true
        case (nil, .some): false
        default: left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
    }
}
