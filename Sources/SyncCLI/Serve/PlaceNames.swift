import SyncConfig
import SyncCore
import SyncLedger
import SystemPackage

/// The folders of this machine that texts name, and what stands for each on a page: no page tells where things lie.
struct PlaceNames: Sendable {
    private let places: [(written: String, name: String)]

    /// - Parameter others: folders that the ledger knows, watched or not.
    init(_ installation: Installation, others: [FilePath]) {
        let location = installation.location
        var places = (installation.settings.watch.map(\.path) + others).map {
            ($0.string, $0.lastComponent?.string ?? "")
        }
        if case .directory(let store) = installation.settings.store {
            places.append((store.path.string, "the embedded store"))
        }
        let settings = installation.settings
        places += [settings.serve.passwordFile, settings.cost.prices, settings.metrics.textfile].compactMap { $0 }
            .map { ($0.string, $0.lastComponent?.string ?? "") }
        places += [(location.stateFolder.string, "the state folder"), (location.file.string, "the configuration")]
        self.init(places, home: location.home?.string)
    }

    /// - Parameters:
    ///   - places: paths, and what stands for them.
    ///   - home: is written `~`, too.
    init(_ places: [(path: String, name: String)], home: String?) {
        // What lies in another comes first.
        self.places = places.sorted { $0.path.utf8.count > $1.path.utf8.count }.flatMap { path, name in
            let short = home.flatMap { path.hasPrefix($0 + "/") ? "~" + path.dropFirst($0.count) : nil }
            return [path, short].compactMap(\.self).map { ($0.escapingControls, name.escapingControls) }
        }
    }

    /// Of each place, the name alone is left; of any other absolute path, its last part.
    func removed(from line: String) -> String {
        var line = line
        for (written, name) in places {
            while !written.isEmpty, let range = line.firstRange(of: written) {
                // In a table, what stands behind it keeps its column.
                let isColumn = line[range.upperBound...].hasPrefix("  ")
                let gap = isColumn ? max(written.count - name.count, 0) : 0
                line.replaceSubrange(range, with: name + String(repeating: " ", count: gap))
            }
        }
        return Self.withoutPaths(line)
    }

    /// A path begins with a slash that no word, number, address or path goes before.
    private static func withoutPaths(_ line: String) -> String {
        var result = ""
        var last: Character = " "
        var rest = line[...]
        while let character = rest.first {
            let isStart = !(last.isLetter || last.isNumber || "/.~_-)%".contains(last))
            let isAddress = last == ":" && rest.hasPrefix("//") && !rest.hasPrefix("///")
            // One in quotes may have blanks in it.
            let path = rest.prefix {
                last == "\"" ? $0 != "\"" : !$0.isWhitespace && !"\"',;()[]“”".contains($0)
            }
            guard isStart, !isAddress, character == "/" || rest.hasPrefix("~/"), path.count > 1 else {
                // The whole of an address is none of this machine's paths.
                let count = isAddress ? path.count : 1
                result += rest.prefix(count)
                last = rest.prefix(count).last ?? character
                rest = rest.dropFirst(count)
                continue
            }
            let end = path.last.map { ":.".contains($0) } == true ? path.dropLast() : path
            let name = end.split(separator: "/").last.map(String.init) ?? ""
            result += name
            last = name.last ?? "/"
            rest = rest.dropFirst(end.count)
        }
        return result
    }
}
