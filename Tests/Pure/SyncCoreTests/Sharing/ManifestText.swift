import Foundation

/// A manifest that keeps to all rules, and what becomes of it by one change.
enum ManifestText {
    static let id = "7d0c6e2a-33b1-4d5e-9c61-0a4b8f2e9d10"
    static let sha256 = String(repeating: "ab", count: 32)

    static func photo(_ index: Int = 0) -> [String: Any] {
        [
            "orderIndex": index, "width": 2_048, "height": 1_536, "size": 400_000, "sha256": sha256,
            "takenAt": "2024-06-15T09:30:00Z",
        ]
    }

    static func film(_ changes: [String: Any] = [:]) -> [String: Any] {
        let film: [String: Any] = [
            "orderIndex": 5, "mediaType": "video/mp4", "width": 1_920, "height": 1_080, "durationSeconds": 12.5,
            "size": 40_000_000, "sha256": sha256, "takenAt": "2024-06-16T09:30:00Z", "hasPoster": true,
        ]
        return film.merging(changes) { $1 }
    }

    /// - Parameter changes: fields of the manifest; `photo.` before a name means the first photo's.
    static func text(_ changes: [String: Any] = [:], photos: Int = 2) -> String {
        var manifest: [String: Any] = [
            "version": 1, "shareId": id, "locationName": "Paris, France", "startDate": "2024-06-15",
            "endDate": "2024-06-22", "photoCount": photos, "sharedBy": "Ana", "expiresAt": "2026-02-01T00:00:00Z",
            "updatedAt": "2026-01-01T00:00:00Z", "photos": (0..<photos).map { photo($0) },
        ]
        for (name, value) in changes {
            if name.hasPrefix("photo."), var list = manifest["photos"] as? [[String: Any]] {
                list[0][String(name.dropFirst(6))] = value
                manifest["photos"] = list
            } else {
                manifest[name] = value
            }
        }
        let data = try? JSONSerialization.data(withJSONObject: manifest, options: [.sortedKeys])
        return data.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
