/// Bytes of a file that are others on their way to a store. Its length stays, and so does all that is said of offsets.
package struct FilePatches: Hashable, Sendable {
    package struct Patch: Hashable, Sendable {
        package let range: Range<Int64>
        /// The first of the new bytes; those behind them are zeros.
        package let head: [UInt8]

        package init(_ range: Range<Int64>, head: [UInt8] = []) {
            self.range = range
            self.head = Array(head.prefix(range.count))
        }
    }

    package static let none = FilePatches([])

    /// In their order, none of them over another.
    package let patches: [Patch]

    /// - Parameter patches: of ranges that do not overlap.
    package init(_ patches: [Patch]) {
        self.patches = patches.filter { !$0.range.isEmpty }.sorted { $0.range.lowerBound < $1.range.lowerBound }
        precondition(
            zip(self.patches, self.patches.dropFirst()).allSatisfy { $0.range.upperBound <= $1.range.lowerBound },
            "two patches of the same bytes")
    }

    package var isEmpty: Bool { patches.isEmpty }

    /// Changes what was read of the file.
    /// - Parameter offset: of the first byte of the buffer in the file.
    package func apply(to buffer: UnsafeMutableRawBufferPointer, at offset: Int64) {
        let read = offset..<offset + Int64(buffer.count)
        var index = firstPatch(endingAfter: offset)
        while index < patches.count, patches[index].range.lowerBound < read.upperBound {
            let patch = patches[index]
            let changed = patch.range.clamped(to: read)
            for place in changed {
                let inPatch = Int(place - patch.range.lowerBound)
                buffer[Int(place - offset)] = inPatch < patch.head.count ? patch.head[inPatch] : 0
            }
            index += 1
        }
    }

    private func firstPatch(endingAfter offset: Int64) -> Int {
        var (low, high) = (0, patches.count)
        while low < high {
            let middle = (low + high) / 2
            if patches[middle].range.upperBound <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
