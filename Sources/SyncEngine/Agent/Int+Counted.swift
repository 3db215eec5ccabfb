extension Int {
    /// `1 photo`, `3 photos`.
    func counted(_ one: String, _ many: String? = nil) -> String {
        "\(self) \(self == 1 ? one : many ?? one + "s")"
    }
}
