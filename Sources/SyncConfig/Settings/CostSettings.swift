package import SystemPackage

/// What estimates are made from.
package struct CostSettings: Hashable, Sendable {
    /// A price file in place of the one in the program; absolute.
    package var prices: FilePath?

    package init(prices: FilePath? = nil) {
        self.prices = prices
    }
}

extension CostSettings {
    init(from reader: inout SettingsReader) {
        prices = reader.optionalPath(ConfigKeys.prices)
    }
}
