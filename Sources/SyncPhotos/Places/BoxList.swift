import SyncCore

/// A box of ISO 14496-12 (section 4.2).
struct Box {
    let type: String
    /// With its header.
    let all: Range<Int>
    let body: Range<Int>
}

extension [UInt8] {
    /// The boxes in a range, one behind the other.
    /// - Throws: `.tellsPlace` when they do not fill it.
    func boxes(in range: Range<Int>, of type: String) throws(PhotoError) -> [Box] {
        var boxes: [Box] = []
        var at = range.lowerBound
        while at < range.upperBound {
            guard var length = big(at: at), let name = text(at: at + 4) else { throw .unclear(type) }
            var header = 8
            if length == 1 {
                guard let long = big(at: at + 8, size: 8) else { throw .unclear(type) }
                length = long
                header = 16
            } else if length == 0 {
                length = range.upperBound - at
            }
            guard length >= header, length <= range.upperBound - at else { throw .unclear(type) }
            boxes.append(Box(type: name, all: at..<at + length, body: at + header..<at + length))
            at += length
        }
        return boxes
    }
}

/// Ranges of a file, merged, so that walking over them costs what the file has, however often each was named.
struct RangeList {
    private(set) var ranges: [Range<Int>]

    init(_ ranges: [Range<Int>]) {
        self.ranges = ranges.filter { !$0.isEmpty }.sorted { $0.lowerBound < $1.lowerBound }
            .reduce(into: []) { merged, range in
                if let last = merged.last, range.lowerBound <= last.upperBound {
                    merged[merged.count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
                } else {
                    merged.append(range)
                }
            }
    }

    func overlaps(_ other: RangeList) -> Bool {
        var (mine, theirs) = (0, 0)
        while mine < ranges.count, theirs < other.ranges.count {
            if ranges[mine].overlaps(other.ranges[theirs]) { return true }
            if ranges[mine].upperBound <= other.ranges[theirs].lowerBound { mine += 1 } else { theirs += 1 }
        }
        return false
    }

    /// Whether each of the other ranges lies within one of these.
    func holds(_ other: RangeList) -> Bool {
        var mine = 0
        for range in other.ranges {
            while mine < ranges.count, ranges[mine].upperBound < range.upperBound { mine += 1 }
            guard mine < ranges.count, ranges[mine].lowerBound <= range.lowerBound else { return false }
        }
        return true
    }
}
