import SyncCore
import SystemPackage

/// What a file's name promises. The bytes decide; the name refines, and makes a broken promise an error.
struct FileName {
    private let `extension`: String

    init(_ path: FilePath) {
        self.extension = path.extension?.lowercased() ?? ""
    }

    var isJSON: Bool { ["json", "jsonl", "ndjson"].contains(self.extension) }

    /// Whether people and cameras give this name to photos and videos only.
    var promisesMedia: Bool {
        Self.mediaExtensions.contains(self.extension) || Self.rawTypes[self.extension] != nil
    }

    /// Most cameras' raw files are TIFF by their bytes; only the name tells whose.
    func refined(_ type: MediaType) -> MediaType {
        guard type.name == "image/tiff", let name = Self.rawTypes[self.extension] else { return type }
        return MediaType(.image, name)
    }

    private static let mediaExtensions: Set<String> = [
        "jpg", "jpeg", "jpe", "jfif", "png", "gif", "webp", "heic", "heif", "hif", "avif", "tif", "tiff", "bmp", "jxl",
        "jp2", "j2k", "crw", "cr2", "cr3", "raf", "orf", "rw2", "x3f", "mrw",
        "mp4", "m4v", "mov", "avi", "mkv", "webm", "mts", "m2ts", "mpg", "mpeg", "3gp", "3g2", "wmv",
    ]

    private static let rawTypes = [
        "dng": "image/x-adobe-dng", "nef": "image/x-nikon-nef", "nrw": "image/x-nikon-nrw", "arw": "image/x-sony-arw",
        "srf": "image/x-sony-srf", "sr2": "image/x-sony-sr2", "pef": "image/x-pentax-pef", "srw": "image/x-samsung-srw",
        "3fr": "image/x-hasselblad-3fr", "fff": "image/x-hasselblad-fff", "iiq": "image/x-phaseone-iiq",
        "dcr": "image/x-kodak-dcr", "kdc": "image/x-kodak-kdc", "rwl": "image/x-leica-rwl",
    ]
}
