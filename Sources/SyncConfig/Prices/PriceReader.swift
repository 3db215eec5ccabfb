package import SyncCore
package import SystemPackage

/// Reads a price table from YAML and collects everything that is wrong. What it returned counts for nothing when
/// ``problems`` is not empty.
struct PriceReader {
    private(set) var problems: [ConfigProblem] = []

    /// A part of the file with its place.
    private struct Section {
        /// As in messages; empty at the top.
        var path: String
        var line: Int?
        var values: [String: ConfigNode]

        func path(of name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
    }

    mutating func table(_ root: ConfigNode) -> PriceTable {
        let top = section(
            root, at: "", line: nil, keys: ["region", "as_of", "currency", "source", "egress", "classes"])
        let currency = text("currency", in: top)
        if let currency, currency != "USD" {
            let found = ShownText.value(currency) ?? ShownText.hidden
            add("found \(found); accepted: USD", at: "currency", line: top.values["currency"]?.line)
        }
        let egress = child("egress", of: top, keys: ["per_gb", "free_gb_per_month"])
        return PriceTable(
            region: text("region", in: top) ?? "", asOf: text("as_of", in: top) ?? "",
            source: text("source", in: top) ?? "", classes: classes(in: top),
            egressPerGB: egress.map { number("per_gb", in: $0) } ?? 0,
            freeEgressGB: egress.map { number("free_gb_per_month", in: $0, default: 0) } ?? 0)
    }

    private mutating func classes(in top: Section) -> [StorageClass: ClassPrices] {
        guard let all = child("classes", of: top, keys: nil) else { return [:] }
        if all.values[StorageClass.standard.rawValue] == nil {
            add("is missing; all other classes are weighed against it", at: "classes.STANDARD", line: all.line)
        }
        var classes: [StorageClass: ClassPrices] = [:]
        for name in all.values.keys.sorted() {
            let storageClass = StorageClass(rawValue: name)
            let keys = [
                "per_gb_month", "put_per_1000", "minimum_days", "minimum_bytes", "overhead_bytes",
                "overhead_standard_bytes", "get_per_1000", "read_per_gb", "retrieval",
            ]
            guard let section = child(name, of: all, keys: keys) else { continue }
            classes[storageClass] = ClassPrices(
                perGBMonth: number("per_gb_month", in: section), putPer1000: number("put_per_1000", in: section),
                minimumDays: count("minimum_days", in: section, upTo: 3_650),
                minimumBytes: Int64(count("minimum_bytes", in: section, upTo: 1 << 30)),
                overheadBytes: Int64(count("overhead_bytes", in: section, upTo: 1 << 30)),
                overheadStandardBytes: Int64(count("overhead_standard_bytes", in: section, upTo: 1 << 30)),
                getPer1000: number("get_per_1000", in: section, default: ClassPrices.usualGetPer1000),
                readPerGB: number("read_per_gb", in: section, default: 0),
                retrieval: retrieval(of: storageClass, in: section))
        }
        return classes
    }

    /// An archive class has to have prices for each of its tiers, another class may have none.
    private mutating func retrieval(
        of storageClass: StorageClass, in section: Section
    ) -> [RestoreTier: RetrievalPrices] {
        let needed = storageClass.restoreTiers
        guard !needed.isEmpty || section.values["retrieval"] != nil else { return [:] }
        let possible = needed.isEmpty ? RestoreTier.allCases : needed
        guard let tiers = child("retrieval", of: section, keys: possible.map(\.rawValue)) else { return [:] }
        var prices: [RestoreTier: RetrievalPrices] = [:]
        for tier in possible where needed.contains(tier) || tiers.values[tier.rawValue] != nil {
            guard let row = child(tier.rawValue, of: tiers, keys: ["per_gb", "per_1000_requests"]) else { continue }
            prices[tier] = RetrievalPrices(
                perGB: number("per_gb", in: row), per1000Requests: number("per_1000_requests", in: row))
        }
        return prices
    }

    private mutating func add(_ message: String, at path: String, line: Int?) {
        problems.append(ConfigProblem(path: path, line: line, message: message))
    }

    /// - Parameter keys: the names that may stand there; `nil` for any.
    private mutating func section(_ node: ConfigNode, at path: String, line: Int?, keys: [String]?) -> Section {
        var section = Section(path: path, line: line, values: [:])
        guard case .section(let entries) = node.content else {
            let names = keys.map { " with the keys \($0.joined(separator: ", "))" } ?? ""
            add("found \(node.summaryInsteadOfSection); accepted: a section\(names)", at: path, line: line ?? node.line)
            return section
        }
        for entry in entries {
            if let keys, !keys.contains(entry.name) {
                let near = NearMiss.suggestion(for: entry.name, among: keys).map { "did you mean \"\($0)\"?" }
                let help = near ?? "accepted: \(keys.joined(separator: ", "))"
                add("there is no such key; \(help)", at: section.path(of: entry.name), line: entry.line)
            }
            var value = entry.value
            // A section's own line is that of its first key; messages mean the line of its name.
            if case .section = value.content { value.line = entry.line }
            section.values[entry.name] = value
        }
        return section
    }

    private mutating func child(_ name: String, of parent: Section, keys: [String]?) -> Section? {
        guard let node = required(name, in: parent, accepted: "a section") else { return nil }
        return section(node, at: parent.path(of: name), line: node.line, keys: keys)
    }

    private mutating func required(_ name: String, in section: Section, accepted: String) -> ConfigNode? {
        if let node = section.values[name] { return node }
        add("is missing; it takes \(accepted)", at: section.path(of: name), line: section.line)
        return nil
    }

    private mutating func text(_ name: String, in section: Section) -> String? {
        guard let node = required(name, in: section, accepted: "a text") else { return nil }
        guard case .text(let text, _) = node.content, !node.isNull, text == text.escapingControls else {
            add("found \(node.summary); accepted: a text on one line", at: section.path(of: name), line: node.line)
            return nil
        }
        return text
    }

    private mutating func number(_ name: String, in section: Section, default fallback: Double? = nil) -> Double {
        value(name, .number(from: 0, to: 1_000_000), in: section, default: fallback) ?? 0
    }

    private mutating func count(_ name: String, in section: Section, upTo maximum: Int) -> Int {
        value(name, .integer(0...maximum), in: section, default: 0) ?? 0
    }

    private mutating func value<Value>(
        _ name: String, _ kind: ValueKind<Value>, in section: Section, default fallback: Value?
    ) -> Value? {
        if section.values[name] == nil, let fallback { return fallback }
        guard let node = required(name, in: section, accepted: kind.accepted) else { return nil }
        do {
            return try kind.read(node)
        } catch {
            let reason = error.reason.map { " (\($0))" } ?? ""
            add(
                "found \(node.summary); accepted: \(kind.accepted)\(reason)", at: section.path(of: name),
                line: node.line)
            return nil
        }
    }
}

/// Prices as YAML: the file in the program, or one that the configuration names in its place.
package enum PriceFile {
    /// - Throws: ``ConfigError`` with everything that is wrong with the named file. Blocks, for one small file.
    package static func table(_ file: FilePath? = nil) throws(ConfigError) -> PriceTable {
        // The build makes it from `resources: [.embedInCode("Prices/prices.yaml")]` of the target in Package.swift.
        guard let file else { return try load(PackageResources.prices_yaml) }
        let (bytes, _) = try ConfigFile.read(
            file, ifMissing: "there is no such file; cost.prices names it: correct the path, or remove the key")
        return try load(bytes, file: file)
    }

    /// Checks the text of a price file without touching a disk.
    /// - Parameter file: for messages.
    package static func load(_ bytes: [UInt8], file: FilePath? = nil) throws(ConfigError) -> PriceTable {
        let root: ConfigNode
        do {
            root = try ConfigDocument.parse(try ConfigFile.text(bytes))
        } catch {
            throw ConfigError(file: file, problems: [error])
        }
        var reader = PriceReader()
        let table = reader.table(root)
        guard reader.problems.isEmpty else { throw ConfigError(file: file, problems: reader.problems) }
        return table
    }
}
