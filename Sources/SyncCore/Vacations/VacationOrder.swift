/// The order in which a vacation's photos are seen: by the instants of capture, then by the bytes of their names. Those of
/// which no capture time is known come after the others.
package struct VacationOrder: Comparable {
    private let position: Int64?
    private let name: String

    /// - Parameter offsets: of all photos of the vacation.
    package init(takenAt: CaptureTime?, name: String, offsets: CaptureOffsets) {
        position = takenAt.map { offsets.position(of: $0) }
        self.name = name
    }

    package static func < (left: VacationOrder, right: VacationOrder) -> Bool {
        switch (left.position, right.position) {
        case (let one?, let other?) where one != other: one < other
        case (.some, nil): true
        case (nil, .some): false
        default: left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
    }
}
