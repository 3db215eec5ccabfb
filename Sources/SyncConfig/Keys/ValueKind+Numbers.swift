/// The text of a number, of each kind. It is a plain scalar: `"3"` in quotes is text. Numbers of YAML 1.2 have no `_`
/// (section 10.3.2), where those of 1.1 may.
private func numberText(_ node: ConfigNode) throws(Rejection) -> String {
    switch node.content {
    case .text(let text, isPlain: true):
        let digits = text.drop { "+-_".contains($0) }
        guard !text.contains("_") || digits.first?.isNumber != true else {
            throw Rejection("a number has no \"_\"; leave it out")
        }
        return text
    case .text: throw Rejection("a number stands without quotes")
    case .list, .section: throw Rejection()
    }
}

/// Decimal digits with an optional sign. A leading 0 is refused: YAML 1.1 reads it as octal.
private func wholeNumber(_ node: ConfigNode) throws(Rejection) -> Int {
    let text = try numberText(node)
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    guard digits.first?.isNumber == true, let number = Int(text) else { throw Rejection() }
    guard digits.count == 1 || digits.first != "0" else { throw Rejection("a number has no leading zeros") }
    return number
}

private func fraction(_ node: ConfigNode) throws(Rejection) -> Double {
    let text = try numberText(node)
    // The check by character keeps out what Double accepts beyond decimals: hexadecimal, "inf", "nan".
    guard text.allSatisfy({ $0.isASCII && ($0.isNumber || "+-.eE".contains($0)) }), let number = Double(text),
        number.isFinite
    else { throw Rejection() }
    return number
}

private func decimal(_ number: Double) -> String {
    Int(exactly: number).map(String.init) ?? String(number)
}

extension ValueKind where Value == Int {
    static func integer(_ range: ClosedRange<Int>) -> Self {
        ValueKind(
            "integer", accepted: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            read: { (node) throws(Rejection) in
                let number = try wholeNumber(node)
                guard range.contains(number) else { throw Rejection() }
                return number
            },
            render: String.init)
    }

    /// Units of a byte rate or a size, the largest first.
    private static var byteUnits: [(suffix: String, size: Int)] {
        [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
    }

    /// A size in bytes, with or without a unit: `16777216`, `16MiB`.
    static func byteSize(_ range: ClosedRange<Int>) -> Self {
        bytes(
            "byte size", range,
            accepted: "a size from \(text(range.lowerBound)) to \(text(range.upperBound)), such as 16MiB")
    }

    /// Bytes a second, with or without a unit: `524288`, `512KiB`, `2 MiB`.
    static func byteRate(from minimum: Int) -> Self {
        bytes(
            "byte rate", minimum...(1 << 40),
            accepted: "bytes a second, at least \(minimum >> 10)KiB, such as 512KiB or 2MiB")
    }

    private static func text(_ bytes: Int) -> String {
        byteUnits.first { bytes.isMultiple(of: $0.size) }.map { "\(bytes / $0.size)\($0.suffix)" } ?? "\(bytes)"
    }

    private static func bytes(_ name: String, _ range: ClosedRange<Int>, accepted: String) -> Self {
        let bytes = integer(range)
        return ValueKind(
            name, accepted: accepted,
            read: { (node) throws(Rejection) in
                let text = try numberText(node)
                guard let unit = byteUnits.first(where: { text.hasSuffix($0.suffix) }) else {
                    return try bytes.read(node)
                }
                let digits = text.dropLast(unit.suffix.count).filter { $0 != " " }
                guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int(digits) else {
                    throw Rejection()
                }
                let (product, overflows) = number.multipliedReportingOverflow(by: unit.size)
                guard !overflows, range.contains(product) else { throw Rejection() }
                return product
            },
            render: text)
    }
}

extension ValueKind where Value == Double {
    static func number(from minimum: Int, to maximum: Int) -> Self {
        ValueKind(
            "number", accepted: "a number from \(minimum) to \(maximum)",
            read: { (node) throws(Rejection) in
                let number = try fraction(node)
                guard number >= Double(minimum), number <= Double(maximum) else { throw Rejection() }
                return number
            },
            render: decimal)
    }
}

extension ValueKind where Value == Duration {
    /// Seconds, fractions allowed.
    static func seconds(from minimum: Int, to maximum: Int) -> Self {
        let number = ValueKind<Double>.number(from: minimum, to: maximum)
        return ValueKind(
            "number", accepted: "\(number.accepted), in seconds",
            read: { (node) throws(Rejection) in .seconds(try number.read(node)) },
            render: { decimal($0 / .seconds(1)) })
    }

    /// Whole minutes.
    static func minutes(_ range: ClosedRange<Int>) -> Self {
        let integer = ValueKind<Int>.integer(range)
        return ValueKind(
            "integer", accepted: "\(integer.accepted), in minutes",
            read: { (node) throws(Rejection) in .seconds(60 * (try integer.read(node))) },
            render: { String($0.components.seconds / 60) })
    }
}

extension ValueKind where Value == Bool {
    static var flag: Self {
        ValueKind(
            "boolean", accepted: "true or false",
            read: { (node) throws(Rejection) in
                guard case .text(let text, isPlain: true) = node.content, let answer = ConfigNode.answer(text) else {
                    throw Rejection()
                }
                return answer
            },
            render: { $0 ? "true" : "false" })
    }
}
