import FoundationEssentials

/// Finds the projects that stand for an image that another project stands for already.
package enum ProjectDuplicates {
    /// Two projects of one template that are no further apart are the same image.
    package static let window = Duration.seconds(5)

    /// Two projects are the same image when they come from one request, or from one template within ``window``. The first
    /// one counts, by creation and then by its place in the file; but one that is stored already stays, one with an image
    /// comes before one without, and one that is complete before one that is not. Failed projects stand for no image.
    /// - Parameters:
    ///   - stored: ids of projects whose image is stored.
    ///   - onDisk: ids of projects whose image is in the folder.
    ///   - requests: of earlier projects, and which project each belonged to.
    /// - Returns: for each duplicate the project that it repeats.
    package static func find(
        in records: [ProjectRecord], stored: Set<String>, onDisk: Set<String>, requests: [String: String]
    ) -> [String: String] {
        var originals = Originals(requests: requests)
        var duplicates: [String: String] = [:]
        let candidates = records.enumerated().filter { $0.element.status != .failed }
        let ordered = candidates.sorted { left, right in
            rank(left.element, left.offset, stored, onDisk) < rank(right.element, right.offset, stored, onDisk)
        }
        for (_, record) in ordered {
            duplicates[record.id] = originals.original(of: record)
        }
        return duplicates
    }

    private static func rank(
        _ record: ProjectRecord, _ place: Int, _ stored: Set<String>, _ onDisk: Set<String>
    ) -> (Int, Int, Int, Double, Int) {
        (
            stored.contains(record.id) ? 0 : 1, onDisk.contains(record.id) ? 0 : 1, record.status == .completed ? 0 : 1,
            record.createdAt.timeIntervalSinceReferenceDate, place
        )
    }
}

/// The projects that are no duplicates, so far.
private struct Originals {
    private struct Slot: Hashable {
        var template: String
        var number: Int
    }

    private var byRequest: [String: String]
    private var bySlot: [Slot: [(id: String, createdAt: Date)]] = [:]
    private let window = ProjectDuplicates.window / .seconds(1)

    init(requests: [String: String]) {
        byRequest = requests
    }

    /// The one that a project repeats. Where there is none, it is an original from now on.
    mutating func original(of record: ProjectRecord) -> String? {
        if let request = record.requestID, let first = byRequest[request], first != record.id { return first }
        let number = Int((record.createdAt.timeIntervalSinceReferenceDate / window).rounded(.down))
        for slot in (number - 1)...(number + 1) {
            let near = bySlot[Slot(template: record.templateID, number: slot)]?.first {
                abs($0.createdAt.timeIntervalSince(record.createdAt)) <= window
            }
            if let near { return near.id }
        }
        if let request = record.requestID { byRequest[request] = record.id }
        bySlot[Slot(template: record.templateID, number: number), default: []].append((record.id, record.createdAt))
        return nil
    }
}
