package import FoundationEssentials

/// Metrics as text, by Prometheus' exposition format 0.0.4
/// (https://prometheus.io/docs/instrumenting/exposition_formats/).
package struct Exposition: Sendable {
    package enum Kind: String, Sendable {
        /// It only grows.
        case counter
        case gauge
    }

    package struct Sample: Sendable {
        /// In the order in which they are written.
        package var labels: [(name: String, value: String)]
        package var value: Double

        package init(_ value: Double, _ labels: [(name: String, value: String)] = []) {
            self.labels = labels
            self.value = value
        }

        package init(_ value: Int, _ labels: [(name: String, value: String)] = []) {
            self.init(Double(value), labels)
        }

        /// A moment, in seconds since 1970.
        package init(_ moment: Date) {
            self.init(moment.timeIntervalSince1970)
        }
    }

    package private(set) var text = ""

    package init() {}

    /// A metric with all of its samples; of one that has none, only what it means is written.
    package mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
        text += "# HELP \(name) \(Self.escaped(help))\n# TYPE \(name) \(kind.rawValue)\n"
        for sample in samples {
            let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
            text +=
                name + (labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}") + " \(Self.number(sample.value))\n"
        }
    }

    /// A backslash, a line feed and, within a label's value, a quotation mark. All else stands as it is.
    private static func escaped(_ text: String, quotes: Bool = false) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped.append(contentsOf: #"\\"#.unicodeScalars)
            case "\n": escaped.append(contentsOf: #"\n"#.unicodeScalars)
            case "\"" where quotes: escaped.append(contentsOf: #"\""#.unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }

    /// Whole numbers without a point: a count of photos is read by people too.
    private static func number(_ value: Double) -> String {
        Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }
}
