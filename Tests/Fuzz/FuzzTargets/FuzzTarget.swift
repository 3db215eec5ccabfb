import CSyncDecoder
import Glibc

/// A reader of bytes that somebody else has written, and what must be true of whatever it makes of them.
enum FuzzTarget: String, CaseIterable {
    case jpeg, exif, cut, photo, film
    case heif, png, webp, tiff, gif, bmp, raw
    case recompress, jxl
    case manifest, page
    case xml, lifecycle
    case events, projects, vacation
    case config

    /// - Returns: whether the bytes were taken for what the reader reads.
    func accepts(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .jpeg: PictureTargets.jpeg(bytes)
        case .exif: PictureTargets.exif(bytes)
        case .cut: PictureTargets.cut(bytes)
        case .photo: PictureTargets.photo(bytes)
        case .film: PictureTargets.film(bytes)
        case .heif: DecoderTargets.decode(bytes, by: CSYNC_DECODER_HEIF)
        case .png: DecoderTargets.decode(bytes, by: CSYNC_DECODER_PNG)
        case .webp: DecoderTargets.decode(bytes, by: CSYNC_DECODER_WEBP)
        case .tiff: DecoderTargets.decode(bytes, by: CSYNC_DECODER_TIFF)
        case .gif: DecoderTargets.decode(bytes, by: CSYNC_DECODER_GIF)
        case .bmp: DecoderTargets.decode(bytes, by: CSYNC_DECODER_BMP)
        case .raw: DecoderTargets.decode(bytes, by: CSYNC_DECODER_RAW)
        case .recompress: DecoderTargets.recompress(bytes)
        case .jxl: DecoderTargets.reconstruct(bytes)
        case .manifest: ShareTargets.manifest(bytes)
        case .page: ShareTargets.page(bytes)
        case .xml: StoreTargets.xml(bytes)
        case .lifecycle: StoreTargets.lifecycle(bytes)
        case .events: ListTargets.events(bytes)
        case .projects: ListTargets.projects(bytes)
        case .vacation: ListTargets.vacation(bytes)
        case .config: ConfigTargets.config(bytes)
        }
    }
}

/// Ends the process, as a crash does, when something is not true that must be.
func promise(_ isTrue: Bool, _ words: @autoclosure () -> String, line: Int = #line) {
    if isTrue { return }
    let text = Array("sync-fuzz: broken promise, line \(line): \(words())\n".utf8)
    _ = write(STDERR_FILENO, text, text.count)
    abort()
}

/// Numbers of no meaning that follow from the bytes, for what a caller would choose.
struct Choice {
    private var state: UInt64

    init(_ bytes: [UInt8]) {
        state = bytes.suffix(64).reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }

    mutating func number(below limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % limit
    }
}

/// libFuzzer runs one input after the other, on one thread.
private nonisolated(unsafe) var chosen = FuzzTarget.jpeg
/// Planted by `--self-test`: a promise that an accepted input breaks, and a word that no seed has, which libFuzzer only finds
/// when it sees how far Swift's code comes.
private let plant = getenv("SYNC_AGENT_FUZZ_PLANT").map { String(cString: $0) }

@_cdecl("sync_fuzz_choose")
package func choose(_ name: UnsafePointer<CChar>) -> Int32 {
    guard let target = FuzzTarget(rawValue: String(cString: name)) else { return 0 }
    chosen = target
    return 1
}

@_cdecl("sync_fuzz_one")
package func tryOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if plant == "search" {
        promise(!isWord(bytes), "found by a search")
        return 0
    }
    let isAccepted = chosen.accepts(bytes)
    promise(plant != "promise" || !isAccepted, "planted")
    return isAccepted ? 1 : 0
}

@inline(never)
private func isWord(_ bytes: [UInt8]) -> Bool {
    guard bytes.count > 4, bytes[0] == UInt8(ascii: "w") else { return false }
    guard bytes[1] == UInt8(ascii: "o") else { return false }
    guard bytes[2] == UInt8(ascii: "r") else { return false }
    return bytes[3] == UInt8(ascii: "d")
}
