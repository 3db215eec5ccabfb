extension Int {
    /// The one place that counts words: `1 photo`, `3 photos`. A verb that goes with the number belongs to both forms:
    /// `counted("photo is", "photos are")`.
    /// - Parameters:
    ///   - many: `nil` for what gets an "s".
    ///   - digits: the number as it is shown; `nil` for its plain digits.
    package func counted(_ one: String, _ many: String? = nil, as digits: String? = nil) -> String {
        "\(digits ?? "\(self)") \(self == 1 ? one : many ?? one + "s")"
    }
}
