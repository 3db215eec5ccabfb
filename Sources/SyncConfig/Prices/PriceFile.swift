package import SyncCore
package import SystemPackage

/// Prices as YAML: the file in the program, or one that the configuration names in its place.
package enum PriceFile {
    /// - Throws: ``ConfigError`` with everything that is wrong with the named file. Blocks, for one small file.
    package static func table(for settings: CostSettings) throws(ConfigError) -> PriceTable {
        // The build makes it from `resources: [.embedInCode("Prices/prices.yaml")]` of the target in Package.swift.
        guard let file = settings.prices else { return try load(PackageResources.prices_yaml) }
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
