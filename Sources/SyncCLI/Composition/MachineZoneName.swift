import Foundation
import SystemPackage

/// What the time zone of this machine is called in the tz database.
struct MachineZoneName {
    /// `nil` where its rules have no name there (`TZ=JST-9`).
    let zone: TimeZone?

    /// As the C library finds it (tzset(3)): `TZ`, else what `/etc/localtime` leads to, else UTC.
    /// - Parameter variable: what `TZ` says.
    init(_ variable: String?, localTime: FilePath = "/etc/localtime") {
        if let variable {
            let name = variable.drop { $0 == ":" }
            zone = Self.zone(named: name.isEmpty ? "UTC" : Self.name(behindDatabase: name))
        } else {
            let target = Self.target(of: localTime)
            zone = Self.zone(named: target.map { Self.name(behindDatabase: $0[...]) } ?? "UTC")
        }
    }

    private static func zone(named name: Substring) -> TimeZone? {
        TimeZone(identifier: String(name))
    }

    /// `Asia/Tokyo` of `../usr/share/zoneinfo/posix/Asia/Tokyo`.
    private static func name(behindDatabase path: Substring) -> Substring {
        guard let database = path.firstRange(of: "zoneinfo/") else { return path }
        let name = path[database.upperBound...]
        for variant in ["posix/", "right/"] where name.hasPrefix(variant) { return name.dropFirst(variant.count) }
        return name
    }

    /// Where a link leads; of a copied file nobody knows the name, which then is in `/etc/timezone`.
    private static func target(of file: FilePath) -> String? {
        if let target = try? FileManager.default.destinationOfSymbolicLink(atPath: file.string) { return target }
        let names = file.removingLastComponent().appending("timezone").string
        return (try? String(contentsOfFile: names, encoding: .utf8))?.split(separator: "\n").first.map(String.init)
    }
}
