extension String {
    /// What comes behind the store's prefix; `nil` where the text does not begin with it. By bytes: for `String`, a `/` and
    /// a combining accent behind it are one character.
    func below(_ prefix: String) -> String? {
        guard utf8.starts(with: prefix.utf8) else { return nil }
        return String(Substring(utf8.dropFirst(prefix.utf8.count)))
    }
}
