import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage

/// Photos for people, one line each, with the reason below where one is not safe.
struct PhotoListView {
    let terminal: Terminal

    /// `uploaded   4.6 MiB → 512 KiB  2048×1536  archived  DEEP_ARCHIVE  ~/Pictures/a.jpg`
    func lines(_ standing: PhotoStanding) -> [String] {
        let photo = standing.photo
        var cells = [TextLayout.fitted(photo.state.rawValue, to: 9)]
        let local = photo.bytesLocal.map(Quantities.bytes) ?? "–"
        let stored = photo.bytesStored.map(Quantities.bytes) ?? "–"
        cells.append(TextLayout.fitted(local, to: 9, alignRight: true) + " → " + TextLayout.fitted(stored, to: 9))
        cells.append(TextLayout.fitted(pixels(of: photo), to: 11))
        if let badge = standing.badge { cells.append(terminal.hasStyle ? badge.symbol : badge.rawValue) }
        if let tier = photo.storageClass, tier != .standard { cells.append(tier.rawValue) }
        if let until = photo.restoredUntil { cells.append("until \(Quantities.time(until))") }
        if let expectation = standing.expectation { cells.append("(\(expectation))") }
        let style: Terminal.Style? =
            switch photo.state {
            case .uploaded: .green
            case .failed, .lost: .red
            case .pending, .uploading: .yellow
            case .skipped, .missing: .dim
            }
        cells[0] = style.map { terminal.styled(cells[0], $0) } ?? cells[0]
        cells.append(photo.path.string.escapingControls)
        var lines = [cells.joined(separator: "  ")]
        if let why = photo.why, photo.state != .pending || photo.error != nil {
            lines += TextLayout.wrapped(why.escapingControls, to: max(terminal.width - 11, 40)).map {
                "           " + terminal.styled($0, .yellow)
            }
        }
        if !photo.dropped.isEmpty {
            let parts = photo.dropped.map(\.words).joined(separator: ", ")
            lines += TextLayout.wrapped("not in the stored copy: \(parts)", to: max(terminal.width - 11, 40)).map {
                "           " + terminal.styled($0, .dim)
            }
        }
        return lines
    }

    /// What is stored of earlier contents of its file.
    func lines(_ versions: [PhotoVersion]) -> [String] {
        versions.map { version in
            let storageClass = version.object.storageClass
            let tier = storageClass == .standard ? "" : ", \(storageClass.rawValue)"
            return "           "
                + terminal.styled(
                    "version \(version.number): \(Quantities.bytes(version.object.size))\(tier), stored "
                        + "\(Quantities.time(version.storedAt)), replaced \(Quantities.time(version.replacedAt)); "
                        + "restore --version \(version.number) brings it back", .dim)
        }
    }

    private func pixels(of photo: PhotoStatus) -> String {
        guard let width = photo.width, let height = photo.height else { return "" }
        return "\(width)×\(height)"
    }
}
