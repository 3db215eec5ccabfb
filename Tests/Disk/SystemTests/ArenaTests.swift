import FoundationEssentials
import SyncSystem
import Testing

@Suite struct ArenaTests {
    /// glibc's HEAP_MAX_SIZE. An arena beside the first lies in so much, at a multiple of it: what is used, and behind it
    /// what nobody may touch yet.
    private static let size: UInt = 64 << 20

    private struct Mapping {
        let from: UInt
        let to: UInt
        let rights: Substring

        /// - Parameter line: of /proc/pid/maps (proc_pid_maps(5)).
        init?(_ line: Substring) {
            let words = line.split(separator: " ")
            let ends = (words.first ?? "").split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard words.count > 1, ends.count == 2 else { return nil }
            (from, to, rights) = (ends[0], ends[1], words[1])
        }
    }

    /// Those of threads are not given back to their free end, and there would be eight for each core.
    @Test func `all threads allocate from one arena`() async throws {
        let pool = BlockingPool(name: "test", threads: 4)
        let bytes = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 { group.addTask { await pool.finish { [UInt8](repeating: 1, count: 50_000).count } } }
            return await group.reduce(0, +)
        }
        #expect(bytes == 200_000)
        let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
        let mappings = maps.split(separator: "\n").compactMap(Mapping.init)
        let arenas = zip(mappings, mappings.dropFirst()).filter { used, kept in
            used.from.isMultiple(of: Self.size) && used.rights == "rw-p" && used.to == kept.from
                && kept.rights == "---p" && kept.to - used.from == Self.size
        }
        #expect(!mappings.isEmpty)
        #expect(arenas.isEmpty)
        await pool.shutDown()
    }
}
