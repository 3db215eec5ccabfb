import CSyncCrypto

/// libcrypto, which the first digest opens.
package enum DigestLibrary {
    /// Opens it. What is missing, as the dynamic linker names it; `nil` where nothing is.
    package static var missing: String? { CSyncCrypto_Missing().map { String(cString: $0) } }
}
