import SyncCore

extension ValueKind where Value == StorageClass {
    /// A class of new photos: one that can be read at once.
    static var storageClass: Self {
        let names = StorageClass.readable.map { $0.rawValue }
        return ValueKind(
            "choice", accepted: Array(names.dropLast()).joined(separator: ", ") + " or " + (names.last ?? ""),
            text: { (text) throws(Rejection) in
                if names.contains(text) { return StorageClass(rawValue: text) }
                if StorageClass(rawValue: text).isArchive {
                    throw Rejection(
                        "a new photo has to be readable until it is verified; photos move to the archive by themselves, "
                            + "with tiers.archive_after_days: 0 at the next pass")
                }
                throw Rejection(NearMiss.suggestion(for: text, among: names).map { "did you mean \"\($0)\"?" })
            },
            render: { $0.rawValue })
    }
}

extension ValueKind where Value == BandwidthTimetable {
    /// A byte rate, or a timetable of them.
    static func bandwidth(from minimum: Int) -> Self {
        let rate = ValueKind<Int>.byteRate(from: minimum)
        return ValueKind(
            "bandwidth",
            accepted: "\(rate.accepted), for uploads and downloads such as 1M:4M, or a timetable such as "
                + "\"08:00,512k Sat-00:00,off\"",
            read: { (node) throws(Rejection) in
                guard case .text(let text, let isPlain) = node.content else { throw Rejection() }
                let isShort = isPlain && text.last.map { "kKMG".contains($0) } == true
                guard isShort || text.lowercased() == "off" || text.contains(where: { $0 == "," || $0 == ":" }) else {
                    return BandwidthTimetable(upload: try rate.read(node))
                }
                do throws(BandwidthTimetable.Invalid) {
                    return try BandwidthTimetable(text, atLeast: minimum)
                } catch {
                    throw Rejection(error.reason)
                }
            },
            render: { table in
                Int(table.description).map(rate.render) ?? "\"\(table.description)\""
            })
    }
}

extension ValueKind where Value == PathFilter {
    static var pathFilter: Self {
        ValueKind(
            "list of text", accepted: "a list of rules such as [\"- *.CR2\", \"+ /2026/**\", \"- *\"], or []",
            read: { (node) throws(Rejection) in
                let lines = try node.texts()
                do throws(PathFilter.Invalid) {
                    return try PathFilter(lines)
                } catch {
                    throw Rejection(error.reason)
                }
            },
            render: { "[\($0.lines.map(YAMLText.scalar).joined(separator: ", "))]" })
    }
}

extension ValueKind where Value == [String: String] {
    /// Tags of objects, by the rules of the S3 User Guide, "Categorizing your objects using tags".
    static var tags: Self {
        ValueKind(
            "section of text",
            accepted: "up to 10 tags such as {album: holidays}, names of up to 128 characters, values of up to 256",
            read: { (node) throws(Rejection) in
                guard case .section(let entries) = node.content else { throw Rejection() }
                guard entries.count <= 10 else { throw Rejection("these are \(entries.count)") }
                var tags: [String: String] = [:]
                for entry in entries { tags[entry.name] = try value(of: entry) }
                return tags
            },
            render: { tags in
                let pairs = tags.sorted { $0.key < $1.key }.map {
                    "\(YAMLText.scalar($0.key)): \(YAMLText.scalar($0.value))"
                }
                return "{\(pairs.joined(separator: ", "))}"
            })
    }

    private static func value(of tag: ConfigNode.Entry) throws(Rejection) -> String {
        let name = tag.name
        let shown = ShownText.name(name).map { "the tag \"\($0)\"" } ?? "a tag"
        guard case .text(let value, _) = tag.value.content else {
            throw Rejection("\(shown) is none: a tag's value is a text")
        }
        guard !tag.value.isNull else { throw Rejection("\(shown) has no value; write \"\" for an empty one") }
        // S3 counts in UTF-16.
        guard (1...128).contains(name.utf16.count), value.utf16.count <= 256 else {
            throw Rejection("\(shown) is too long, or has no name")
        }
        guard !name.lowercased().hasPrefix("aws:") else {
            throw Rejection("names that begin with aws: are Amazon's own")
        }
        let isTaken = (name + value).unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil || " +-=._:/@".unicodeScalars.contains($0)
        }
        guard isTaken else { throw Rejection("\(shown) may have letters, digits, spaces and + - = . _ : / @") }
        return value
    }
}
