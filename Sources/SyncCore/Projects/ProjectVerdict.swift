package import FoundationEssentials

/// What is to become of a project's image and metadata.
package enum ProjectVerdict: Hashable, Sendable {
    case store
    /// It is still being made: stored as soon as the image is whole.
    case storeWhenWhole
    /// It has been in the making for longer than ``ProjectRecord/patience``.
    case giveUp
    case failed
    /// Of the project with this id.
    case duplicate(of: String)
    /// Somebody has asked for it to be deleted.
    case deleting

    package init(_ record: ProjectRecord, duplicateOf original: String?, isDeleting: Bool, at now: Date) {
        self =
            if isDeleting {
                .deleting
            } else if let original {
                .duplicate(of: original)
            } else {
                switch record.status {
                case .completed: .store
                case .processing: record.isGivenUp(at: now) ? .giveUp : .storeWhenWhole
                case .failed: .failed
                }
            }
    }

    /// Why a file is not stored that belongs to no project. It is skipped until it does.
    package static let noRecord = "no record in projects.json"
    private static let unusableRecord = "its record in projects.json cannot be used: "

    /// The same of a file whose project may have a record that cannot be used.
    /// - Parameter problem: why not; `nil` where there is none.
    package static func withoutRecord(_ problem: String?) -> String { problem.map { unusableRecord + $0 } ?? noRecord }

    /// Why an image waits whose project is in the making. As long as it does, nothing is amiss.
    package static let unfinished = "its project is still processing, and the image is not whole yet"

    /// As what its image is left out; `nil` when it is stored, or is about to be removed.
    package var leftOut: LeftOut? {
        switch self {
        case .store, .storeWhenWhole, .deleting: nil
        case .giveUp: .dropped
        case .failed: .failed
        case .duplicate: .duplicate
        }
    }

    /// Why nothing is stored of it, in plain words; `nil` when it is stored.
    package var reason: String? {
        switch self {
        case .store, .storeWhenWhole: nil
        case .giveUp: "its project has been processing for more than 24 h; it is stored when that changes"
        case .failed: "its project failed; failed projects are not stored"
        case .duplicate(let original): Self.duplicateOf + original.escapingControls
        case .deleting: Self.isBeingDeleted
        }
    }

    /// Why a file waits whose project is to be deleted, as long as it is on the disk.
    package static let isBeingDeleted =
        "its project is being deleted, and that is not done; give sync-agent projects delete again"

    private static let duplicateOf = "a duplicate of project "

    /// Whether a file was left out because of its project, and not for what it is.
    package static func isReason(_ text: String) -> Bool {
        text == noRecord || text.hasPrefix(unusableRecord) || text.hasPrefix(duplicateOf)
            || [Self.giveUp, .failed, .deleting].contains { $0.reason == text }
    }
}

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
    ///   - requests: of earlier projects, and which project each belonged to. A project that comes later with one of them
    ///     is a replay.
    ///   - survivors: ids of projects that are no replays: they were there when the earlier project was, or were stored.
    /// - Returns: for each duplicate the project that it repeats.
    package static func find(
        in records: [ProjectRecord], stored: Set<ByteString>, onDisk: Set<ByteString>,
        requests: [ByteString: ByteString], survivors: Set<ByteString> = []
    ) -> [ByteString: ByteString] {
        var originals = Originals(remembered: requests)
        var duplicates: [ByteString: ByteString] = [:]
        let candidates = records.enumerated().filter { $0.element.status != .failed }
        let ordered = candidates.sorted { left, right in
            rank(left.element, left.offset, stored, onDisk) < rank(right.element, right.offset, stored, onDisk)
        }
        for (_, record) in ordered {
            let id = record.id.inBytes
            duplicates[id] = originals.original(of: record, isReplay: !survivors.contains(id))
        }
        return duplicates
    }

    private static func rank(
        _ record: ProjectRecord, _ place: Int, _ stored: Set<ByteString>, _ onDisk: Set<ByteString>
    ) -> (Int, Int, Int, Double, Int) {
        (
            stored.contains(record.id.inBytes) ? 0 : 1, onDisk.contains(record.id.inBytes) ? 0 : 1,
            record.status == .completed ? 0 : 1,
            record.createdAt.timeIntervalSinceReferenceDate, place
        )
    }
}

/// The projects that are no duplicates, so far.
private struct Originals {
    private struct Slot: Hashable {
        var template: ByteString
        var number: Int
    }

    private let remembered: [ByteString: ByteString]
    private var byRequest: [ByteString: ByteString] = [:]
    private var bySlot: [Slot: [(id: ByteString, createdAt: Date)]] = [:]
    private let window = ProjectDuplicates.window / .seconds(1)

    init(remembered: [ByteString: ByteString]) {
        self.remembered = remembered
    }

    /// The one that a project repeats. Where there is none, it is an original from now on.
    mutating func original(of record: ProjectRecord, isReplay: Bool) -> ByteString? {
        let (id, request) = (record.id.inBytes, record.requestID?.inBytes)
        if let request {
            if let first = byRequest[request], first != id { return first }
            if isReplay, let first = remembered[request], first != id { return first }
        }
        let number = Int((record.createdAt.timeIntervalSinceReferenceDate / window).rounded(.down))
        for slot in (number - 1)...(number + 1) {
            let near = bySlot[Slot(template: record.templateID.inBytes, number: slot)]?.first {
                abs($0.createdAt.timeIntervalSince(record.createdAt)) <= window
            }
            if let near { return near.id }
        }
        if let request { byRequest[request] = id }
        bySlot[Slot(template: record.templateID.inBytes, number: number), default: []].append((id, record.createdAt))
        return nil
    }
}
