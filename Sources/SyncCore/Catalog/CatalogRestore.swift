package import SystemPackage

/// A restore that is under way, or whose copies are still there.
package struct CatalogRestore: Hashable, Sendable, Codable {
    package struct Item: Hashable, Sendable, Codable {
        package var key: String
        package var path: CatalogPath?
        package var size: Int64
        package var storageClass: String
        package var tier: String
        package var state: String
        package var requestedAt: Int64?
        package var readyAt: Int64?
        package var expiresAt: Int64?
        /// Whether it was still to be saved in a folder. In which one, the catalogue does not tell.
        package var unsaved: Bool?

        package init(key: String, path: FilePath?, size: Int64, storageClass: String, tier: String, state: String) {
            self.key = key
            self.path = path.map(CatalogPath.init)
            self.size = size
            self.storageClass = storageClass
            self.tier = tier
            self.state = state
        }
    }

    /// Its number on its machine. Lines with the same one that follow each other are one restore.
    package var restore: Int64
    package var requestedAt: Int64
    package var by: String
    package var tier: String
    package var rush: Bool
    package var days: Int
    package var items: [Item]

    package init(
        restore: Int64, requestedAt: Int64, by: String, tier: String, rush: Bool, days: Int, items: [Item] = []
    ) {
        self.restore = restore
        self.requestedAt = requestedAt
        self.by = by
        self.tier = tier
        self.rush = rush
        self.days = days
        self.items = items
    }

    /// Bytes of a line at most, as they are reckoned here. Readers refuse one of 64 MiB.
    private static let longest = 16 << 20
    /// Bytes of an item besides its key and path.
    private static let frame = 400

    /// The same in lines that can be read, however many photos it has.
    package var lines: [CatalogRestore] {
        var lines: [CatalogRestore] = []
        var rest = items[...]
        repeat {
            var length = 0
            let part = rest.prefix { item in
                // In JSON, a byte of a path may take six.
                length += Self.frame + item.key.utf8.count + 6 * (item.path?.path.length ?? 0)
                return length <= Self.longest
            }
            var line = self
            // One that is longer by itself is a line, too.
            line.items = Array(part.isEmpty ? rest.prefix(1) : part)
            lines.append(line)
            rest = rest.dropFirst(line.items.count)
        } while !rest.isEmpty
        return lines
    }
}
