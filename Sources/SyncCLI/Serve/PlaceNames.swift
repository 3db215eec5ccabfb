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
                line.replaceSubrange(range, with: name)
            }
        }
        return Self.withoutPaths(line)
    }

    private static func withoutPaths(_ line: String) -> String {
        var result = ""
        var isAtStart = true
        var rest = line[...]
        while let character = rest.first {
            let isPath = isAtStart && (character == "/" || rest.hasPrefix("~/"))
            guard isPath else {
                result.append(character)
                isAtStart = character.isWhitespace || "\"'(=".contains(character)
                rest = rest.dropFirst()
                continue
            }
            let path = rest.prefix { !$0.isWhitespace && !"\"',;)".contains($0) }
            guard path.count > 1 else {
                result.append(character)
                rest = rest.dropFirst()
                continue
            }
            let end = path.last.map { ":.".contains($0) } == true ? path.dropLast() : path
            result += end.split(separator: "/").last.map(String.init) ?? "/"
            rest = rest.dropFirst(end.count)
            isAtStart = false
        }
        return result
    }
}
